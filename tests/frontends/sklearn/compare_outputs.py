import numpy as np, sys, glob, os
bad=0; good=0
for o in sorted(glob.glob(sys.argv[1]+'/*_out.npz')):
    base=o[:-8]; exp=dict(np.load(o,allow_pickle=True)); got={}
    d=base+'_got'
    for f in glob.glob(d+'/*.npz')+glob.glob(d+'*.npz'): got.update(dict(np.load(f,allow_pickle=True)))
    for f in glob.glob(d+'/*.npy'): got[os.path.basename(f)[:-4]]=np.load(f,allow_pickle=True)
    if not got: continue
    msg=[]
    for k,v in exp.items():
        if k not in got: msg.append(f'no {k} ({list(got)})'); continue
        g=got[k]; v=np.asarray(v)
        if v.dtype.kind in 'US' or g.dtype.kind in 'USO':
            g=np.array([x.decode() if isinstance(x,bytes) else str(x) for x in g.ravel()]); n=(g!=v.ravel().astype(str)).sum()
            if n: msg.append(f'{k}: {n} labels differ')
            continue
        if g.size!=v.size: msg.append(f'{k}: shape {g.shape} {v.shape}'); continue
        g=g.reshape(v.shape).astype(float); v=v.astype(float)
        if k=='label':
            n=(g!=v).sum()
            if n: msg.append(f'label: {n} differ')
            continue
        ok=np.isclose(g,v,rtol=0,atol=0,equal_nan=True)
        e=np.nanmax(np.abs(g-v)/np.maximum(1,np.abs(v)))
        lim=1e-5 if 'XGB' in base else 1e-9
        if not (e<=lim) or (np.isnan(g)!=np.isnan(v)).any(): msg.append(f'{k}: {e:.2e}')
    if msg: bad+=1; print(os.path.basename(base),'; '.join(msg))
    else: good+=1
print('good',good,'bad',bad)
