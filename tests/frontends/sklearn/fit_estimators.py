# fits estimators, writes pickles, inputs and expected outputs
import pickle, sys, os, warnings, numpy as np, joblib
warnings.filterwarnings('ignore')
out=sys.argv[1]; os.makedirs(out,exist_ok=True)
from sklearn.datasets import load_iris, load_wine, make_regression
from sklearn.utils import all_estimators
rs=np.random.RandomState(0)
Xi,yi=load_iris(return_X_y=True); Xw,yw=load_wine(return_X_y=True)
b=yi<2; Xb,yb=Xi[b]+rs.normal(0,1.0,Xi[b].shape),yi[b]
Xr,yr=make_regression(120,5,noise=5,random_state=0)
Yr=np.stack([yr,-yr+rs.normal(size=120)],1)
import importlib
names=sys.argv[2:]
ALL=dict(all_estimators())
from sklearn.linear_model import *; from sklearn.tree import *; from sklearn.ensemble import *; from sklearn.svm import *
from sklearn.neighbors import *; from sklearn.naive_bayes import *; from sklearn.preprocessing import *; from sklearn.pipeline import *
from sklearn.decomposition import *; from sklearn.cluster import *; from sklearn.neural_network import *; from sklearn.calibration import *
from sklearn.multiclass import *; from sklearn.multioutput import *; from sklearn.discriminant_analysis import *; from sklearn.feature_selection import *
from sklearn.kernel_approximation import *; from sklearn.random_projection import *; from sklearn.mixture import *; from sklearn.gaussian_process import *
from sklearn.experimental import enable_iterative_imputer; from sklearn.impute import *; from sklearn.dummy import *; from sklearn.isotonic import *
from sklearn.model_selection import *; from sklearn.compose import *; from sklearn.kernel_ridge import KernelRidge; from sklearn.cross_decomposition import *
from sklearn.semi_supervised import SelfTrainingClassifier
cases=[]
def C(e,*d): 
    for k in d or ('b','i','w'): cases.append((e,k))
def R(e): cases.append((e,'r'))
def T(e,*d):
    for k in d or ('i','w'): cases.append((e,k))
for n in 'LinearRegression Ridge RidgeCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC Lars LarsCV ElasticNet ElasticNetCV OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV BayesianRidge ARDRegression HuberRegressor TheilSenRegressor SGDRegressor PassiveAggressiveRegressor LinearSVR QuantileRegressor RANSACRegressor DecisionTreeRegressor ExtraTreeRegressor GradientBoostingRegressor HistGradientBoostingRegressor SVR NuSVR KNeighborsRegressor RadiusNeighborsRegressor MLPRegressor KernelRidge PLSRegression GaussianProcessRegressor DummyRegressor AdaBoostRegressor'.split():
    kw={}
    if n=='RadiusNeighborsRegressor': kw=dict(radius=3.0)
    if n=='MLPRegressor': kw=dict(max_iter=30)
    R(ALL[n](**kw))
for n in 'RandomForestRegressor ExtraTreesRegressor BaggingRegressor'.split(): R(ALL[n](n_estimators=7,random_state=0))
for n in 'MultiTaskLasso MultiTaskLassoCV MultiTaskElasticNet MultiTaskElasticNetCV DecisionTreeRegressor LinearRegression'.split(): cases.append((ALL[n](),'R'))
for n in 'PoissonRegressor GammaRegressor TweedieRegressor'.split(): cases.append((ALL[n](),'p'))
cases.append((TweedieRegressor(power=1.5),'p'))
for n in 'LogisticRegression LogisticRegressionCV RidgeClassifier RidgeClassifierCV LinearSVC Perceptron PassiveAggressiveClassifier SGDClassifier LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis GaussianNB BernoulliNB MultinomialNB ComplementNB DecisionTreeClassifier ExtraTreeClassifier NearestCentroid KNeighborsClassifier NuSVC SVC AdaBoostClassifier HistGradientBoostingClassifier'.split():
    C(ALL[n]())
C(LogisticRegression(multi_class='ovr')); C(SGDClassifier(loss='modified_huber')); C(SGDClassifier(loss='log_loss')); C(SVC(probability=True,kernel='poly')); C(SVC(kernel='linear',probability=True)); C(SVC(kernel='sigmoid'),'i')
C(KNeighborsClassifier(weights='distance',p=1)); C(RandomForestClassifier(n_estimators=7)); C(ExtraTreesClassifier(n_estimators=7)); C(GradientBoostingClassifier(n_estimators=6)); C(GradientBoostingClassifier(n_estimators=6,loss='exponential'),'b'); C(MLPClassifier(max_iter=30)); C(BaggingClassifier(n_estimators=4)); C(AdaBoostClassifier(algorithm='SAMME',n_estimators=5))
C(CalibratedClassifierCV(LinearSVC(),cv=2)); C(CalibratedClassifierCV(GaussianNB(),method='isotonic',cv=2)); C(OneVsRestClassifier(LogisticRegression())); C(OneVsOneClassifier(LogisticRegression())); C(OutputCodeClassifier(LogisticRegression(),random_state=0),'i')
C(VotingClassifier([('a',LogisticRegression()),('b',GaussianNB())],voting='soft')); C(VotingClassifier([('a',LogisticRegression()),('b',GaussianNB())])); C(StackingClassifier([('a',GaussianNB()),('b',DecisionTreeClassifier(max_depth=2))],cv=2)); C(DummyClassifier()); C(GaussianProcessClassifier(),'b'); C(GridSearchCV(SVC(),{'C':[1,2]},cv=2)); C(RadiusNeighborsClassifier(radius=100.)); C(SelfTrainingClassifier(LogisticRegression()),'b')
R(VotingRegressor([('a',LinearRegression()),('b',Ridge())])); R(StackingRegressor([('a',LinearRegression()),('b',Ridge())],cv=2)); R(TransformedTargetRegressor(LinearRegression(),transformer=StandardScaler())); cases.append((MultiOutputRegressor(Ridge()),'R')); cases.append((RegressorChain(Ridge()),'R'))
for n in 'StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer Binarizer PowerTransformer QuantileTransformer PolynomialFeatures KBinsDiscretizer PCA IncrementalPCA TruncatedSVD FastICA FactorAnalysis SparsePCA MiniBatchSparsePCA KernelPCA GaussianRandomProjection SparseRandomProjection Nystroem RBFSampler SkewedChi2Sampler BernoulliRBM VarianceThreshold SimpleImputer'.split():
    kw={}
    if n in('GaussianRandomProjection','SparseRandomProjection'): kw=dict(n_components=3)
    if n=='KBinsDiscretizer': kw=dict(encode='onehot-dense')
    if n=='Nystroem': kw=dict(n_components=10)
    if n in ('SparsePCA','MiniBatchSparsePCA'): kw=dict(n_components=2)
    T(ALL[n](**kw),'i')
T(QuantileTransformer(output_distribution='normal',n_quantiles=50),'i'); T(KernelPCA(kernel='rbf'),'i'); T(KernelPCA(kernel='poly',n_components=3),'i'); T(PCA(whiten=True),'w'); T(Normalizer('l1'),'i'); T(Normalizer('max'),'i'); T(PolynomialFeatures(3,interaction_only=True),'i'); T(RandomTreesEmbedding(n_estimators=3,sparse_output=False),'i'); T(FunctionTransformer(np.log1p),'i'); T(FeatureUnion([('a',PCA(2)),('b',StandardScaler())]),'i'); T(make_pipeline(StandardScaler(),PCA(2)),'i')
for e in (SelectKBest(k=2),SelectPercentile(percentile=50),SelectFpr(),SelectFdr(),SelectFwe(),GenericUnivariateSelect(mode='k_best',param=2),RFE(LogisticRegression(),n_features_to_select=2),SelectFromModel(LogisticRegression()),SelectFromModel(RandomForestClassifier(n_estimators=5))): T(e,'i')
T(SimpleImputer(add_indicator=True),'m'); T(IterativeImputer(max_iter=3),'m'); T(MissingIndicator(),'m'); 
for e in (KMeans(3,n_init=1),MiniBatchKMeans(3,n_init=1),BisectingKMeans(3),Birch(n_clusters=3),MeanShift(),AffinityPropagation(),GaussianMixture(3),GaussianMixture(3,covariance_type='tied'),GaussianMixture(3,covariance_type='diag'),GaussianMixture(3,covariance_type='spherical'),BayesianGaussianMixture(n_components=3),IsolationForest(n_estimators=5),OneClassSVM(),SGDOneClassSVM(),LocalOutlierFactor(novelty=True)): cases.append((e,'i'))
C(make_pipeline(StandardScaler(),LogisticRegression())); C(make_pipeline(SimpleImputer(),RandomForestClassifier(n_estimators=5)),'m')
try:
    import xgboost
    C(xgboost.XGBClassifier(n_estimators=5)); R(xgboost.XGBRegressor(n_estimators=5)); R(xgboost.XGBRFRegressor(n_estimators=5)); C(xgboost.XGBClassifier(n_estimators=5,booster='dart',rate_drop=.5),'i'); R(xgboost.XGBRegressor(n_estimators=5,booster='gblinear'))
except ImportError: pass
Xm=Xi.copy(); Xm[rs.rand(*Xm.shape)<.1]=np.nan; Xm[0]=Xi[0]
data=dict(b=(Xb,yb),i=(Xi,yi),w=(Xw,np.array(['a','b','c'])[yw]),r=(Xr,yr),R=(Xr,Yr),p=(Xr,np.abs(yr)+.1),m=(Xm,yi))
from sklearn.base import clone
ok=0
for k,(e,d) in enumerate(cases):
    if names and type(e).__name__ not in names: continue
    X,y=data[d]
    n=type(e).__name__
    if n in ('MultinomialNB','ComplementNB','SkewedChi2Sampler'): X=np.abs(X)
    if n.startswith('XGB') and d=='w': y=np.unique(y,return_inverse=True)[1]
    try:
        e=clone(e)
        if hasattr(e,'random_state'): e.random_state=0
        e.fit(X,y)
        exp={}
        if hasattr(e,'predict') and not (n in('RFE',)):
            p=np.asarray(e.predict(X))
            is_reg = d in 'rRp'
            exp['variable' if is_reg else 'label']=p
            if not is_reg and hasattr(e,'predict_proba'): exp['probabilities']=e.predict_proba(X)
            elif not is_reg and hasattr(e,'decision_function'): exp['scores']=e.decision_function(X)
        if 'label' not in exp and 'variable' not in exp or n in ('RFE',):
            if n=='RFE': exp={'label':e.predict(X)}
            else:
                t=e.transform(X); exp={'variable':np.asarray(t.todense()) if hasattr(t,'todense') else np.asarray(t,dtype=float)}
    except Exception as ex:
        print('cannot fit',n,d,str(ex)[:80]); continue
    base=f'{out}/{k:03d}_{n}_{d}'
    if k%3==0: pickle.dump(e,open(base+'.pkl','wb'),2)
    elif k%3==1: pickle.dump(e,open(base+'.pkl','wb'),5)
    else: joblib.dump(e,base+'.pkl',compress=3 if k%2 else 0)
    np.savez(base+'_in.npz',X=X.astype(np.float32) if n.startswith('XGB_') else X)
    np.savez(base+'_out.npz',**exp); ok+=1
print('fitted',ok)
