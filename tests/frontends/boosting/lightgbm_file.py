"""Models of LightGBM written and computed by the rules of their format: leaves that are sums over features, categories
that are no whole numbers."""
import numpy as np

HEAD = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=3
objective={objective}
feature_names=a b c d
feature_infos=none none none none

"""
# Feature 2 is a category: 0, 3 and 33 go left. Feature 0: up to 0.5 left, NaN right. The third leaf is a number.
TREE = """Tree={number}
num_leaves=3
num_cat=1
split_feature=2 0
split_gain=1 1
threshold=0 0.5
decision_type=1 8
left_child=-1 -2
right_child=1 -3
leaf_value={leaf} -2.5 3.25
leaf_weight=1 1 1
leaf_count=1 1 1
internal_value=0 0
internal_weight=0 0
internal_count=1 1
cat_boundaries=0 2
cat_threshold=9 2
is_linear={is_linear}
{linear}shrinkage=1


"""
LINEAR = """leaf_const=0.5 -1.25 3.25
num_features=2 1 0
leaf_features=1 3  0
leaf_coeff=0.75 -2 1e-2
"""


def written(path, objective, leaves, is_linear):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD.format(objective=objective))
        for number, leaf in enumerate(leaves):
            file.write(TREE.format(number=number, leaf=leaf, is_linear=int(is_linear), linear=LINEAR if is_linear else ""))
        file.write("end of trees\n")


def rows():
    rng = np.random.RandomState(5)
    made = rng.normal(0, 2, (300, 4))
    made[:, 2] = rng.choice([-1.5, -1, -0.5, 0, 0.7, 2, 3, 3.9, 31, 33, 33.5, 34, 1000, 3e10, np.nan], 300)
    made[rng.rand(300, 4) < 0.1] = np.nan
    return made


def sums(x, leaves, is_linear):
    """What each row gets: the category is cut to a whole number towards zero."""
    total = np.zeros(len(x))
    for leaf in leaves:
        for i, (a, b, c, d) in enumerate(x):
            if not np.isnan(c) and int(c) in (0, 3, 33) and c > -1:
                total[i] += 0.5 + 0.75 * b - 2 * d if is_linear and not np.isnan(b) and not np.isnan(d) else leaf
            elif not np.isnan(a) and a <= 0.5:
                total[i] += -1.25 + 1e-2 * a if is_linear else -2.5
            else:
                total[i] += 3.25
    return total
