#!/usr/bin/env python3
"""Writes numpy_cases.txt: single TensorFlow operators with inputs and the values that NumPy and SciPy compute for them."""
import sys

import numpy as np
import scipy.linalg
import scipy.special as sp
import scipy.stats

NAMES = {'float32': 'float', 'float64': 'double', 'int32': 'int32', 'int64': 'int64', 'bool': 'bool', 'uint8': 'uint8',
         'int8': 'int8', 'int16': 'int16', 'uint16': 'uint16', 'uint32': 'uint32', 'uint64': 'uint64'}
out = []
rng = np.random.RandomState(7)


def spelt(a):
    a = np.asarray(a)
    dims = '[' + ','.join(str(d) for d in a.shape) + ']'
    if a.dtype.kind in 'OUS':
        return 'string ' + dims + ''.join(' "' + str(s) + '"' for s in a.ravel())
    if a.dtype == bool:
        return 'bool ' + dims + ''.join(' true' if v else ' false' for v in a.ravel())
    if a.dtype.kind in 'iu':
        return NAMES[a.dtype.name] + ' ' + dims + ''.join(' %d' % v for v in a.ravel())
    return NAMES[a.dtype.name] + ' ' + dims + ''.join(' %.9g' % v for v in a.ravel())


class Const:
    """An input that is a constant of the graph."""

    def __init__(self, value):
        self.value = value


def emit(op, inputs, outputs, attrs='', sized=False, nodes=None, random=None):
    out.append('')
    out.append('case ' + op)
    if sized:
        out.append('sized')
    names = []
    for i, x in enumerate(inputs):
        name = 'x%d' % i
        names.append(name)
        if isinstance(x, Const):
            out.append('const %s %s' % (name, spelt(x.value)))
        else:
            out.append('in %s %s' % (name, spelt(x)))
    for line in nodes or ['node y %s %s %s' % (op, ' '.join(names), attrs)]:
        out.append(line.strip())
    for i, y in enumerate(outputs):
        if y is not None:
            out.append('out %s %s' % ('y:%d' % i if i else 'y', spelt(y)))
    if random:
        out.append('random y ' + random)


def f(*shape):
    return rng.randn(*shape).astype(np.float32)


def u(*shape):
    return rng.rand(*shape).astype(np.float32)


def i32(*v):
    return np.array(v, np.int32)


def i64(*v):
    return np.array(v, np.int64)


def s32(v):
    return np.int32(v)


def spd(*shape):
    a = f(*shape)
    return (a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])).astype(np.float32)


# Linear algebra.
for shape in [(3, 3), (2, 4, 4)]:
    a = spd(*shape)
    emit('Cholesky', [a], [np.linalg.cholesky(a)])
    m = f(*shape) + 2 * np.eye(shape[-1], dtype=np.float32)
    emit('MatrixInverse', [m], [np.linalg.inv(m)])
    emit('MatrixInverse', [m], [np.linalg.inv(np.swapaxes(m, -1, -2))], 'adjoint=b:true')
    b = f(*shape[:-1], 2)
    emit('MatrixSolve', [m, b], [np.linalg.solve(m, b)])
    emit('MatrixSolve', [m, b], [np.linalg.solve(np.swapaxes(m, -1, -2), b)], 'adjoint=b:true')
    emit('MatrixTriangularSolve', [m, b], [np.linalg.solve(np.tril(m), b)])
    emit('MatrixTriangularSolve', [m, b], [np.linalg.solve(np.swapaxes(np.triu(m), -1, -2), b)],
         'lower=b:false adjoint=b:true')
    sign, log = np.linalg.slogdet(m)
    emit('LogMatrixDeterminant', [m], [sign.astype(np.float32), log.astype(np.float32)])
    emit('MatrixDeterminant', [m], [np.linalg.det(m).astype(np.float32)])
    w = np.linalg.eigvalsh(a)
    emit('SelfAdjointEigV2', [a], [w.astype(np.float32)], 'compute_v=b:false')
a = spd(4, 4)
w, v = np.linalg.eigh(a.astype(np.float64))
emit('SelfAdjointEigV2', [a], [np.abs(v).astype(np.float32), w.astype(np.float32)],
     nodes=['node e SelfAdjointEigV2 x0', 'node y Abs e:1', 'node w Identity e:0'])
out[-1] = out[-1].replace('out y:1', 'out w')
for shape in [(4, 3), (3, 4), (2, 3, 3)]:
    a = f(*shape)
    s = np.linalg.svd(a, compute_uv=False)
    emit('Svd', [a], [s], 'compute_uv=b:false')
    uu, s, vt = np.linalg.svd(a, full_matrices=False)
    emit('Svd', [a], [s, np.abs(uu), np.abs(np.swapaxes(vt, -1, -2))],
         nodes=['node d Svd x0', 'node y Identity d', 'node u Abs d:1', 'node v Abs d:2'])
    out[-1] = out[-1].replace('out y:2', 'out v')
    out[-2] = out[-2].replace('out y:1', 'out u')
    # Whole matrices: what they make together is the matrix again.
    emit('Svd', [a], [a], nodes=['node d Svd x0 full_matrices=b:true',
                                 'const k int32 [] %d' % min(shape[-2:]),
                                 'node diag MatrixDiag d',
                                 'const all int32 [] -1', 'node band MatrixBandPart d:1 all all',
                                 'const begin int32 [%d]%s' % (len(shape), ' 0' * len(shape)),
                                 'const usize int32 [%d]%s %d' % (len(shape), ' -1' * (len(shape) - 1), min(shape[-2:])),
                                 'node u Slice band begin usize', 'node v Slice d:2 begin usize',
                                 'node us BatchMatMulV2 u diag', 'node y BatchMatMulV2 us v adj_y=b:true'])
    q, r = np.linalg.qr(a) if len(shape) == 2 else zip(*[np.linalg.qr(x) for x in a])
    q, r = np.array(q), np.array(r)
    emit('Qr', [a], [q, r])
emit('Qr', [a[0][:, :2]], list(scipy.linalg.qr(a[0][:, :2])), 'full_matrices=b:true')
m = f(3, 3)
p, l, uu = scipy.linalg.lu(m)
emit('Lu', [m], [(l - np.eye(3) + uu).astype(np.float32), np.argmax(p, axis=0).astype(np.int64)],
     'output_idx_type=type:int64')
a, b = f(4, 3), f(4, 2)
emit('MatrixSolveLs', [a, b, Const(np.float64(0.5))],
     [np.linalg.solve(a.T @ a + 0.5 * np.eye(3), a.T @ b).astype(np.float32)], 'fast=b:true', sized=True)
x = a.T
b = np.array([[0.3, 1], [2, -1], [0.5, 0.25]], np.float32)
emit('MatrixSolveLs', [x.copy(), b, Const(np.float64(0))], [np.linalg.lstsq(x, b, rcond=None)[0]], 'fast=b:false',
     sized=True)
upper, main, lower, x = f(1, 4), f(1, 4), f(1, 4), f(4, 2)
dense = np.diag(main[0]) + np.diag(upper[0, :-1], 1) + np.diag(lower[0, 1:], -1)
emit('TridiagonalMatMul', [upper, main, lower, x], [dense @ x])
d = np.concatenate([upper, main + 3, lower])
dense = np.diag(d[1]) + np.diag(d[0, :-1], 1) + np.diag(d[2, 1:], -1)
emit('TridiagonalSolve', [d, x], [np.linalg.solve(dense, x).astype(np.float32)], 'partial_pivoting=b:false')
a, b = f(2, 3), f(2, 3)
emit('Cross', [a, b], [np.cross(a, b)])
a, b = f(2, 3), f(3, 4)
emit('Einsum', [a, b], [np.einsum('ij,jk->ki', a, b)], 'equation=s:ij,jk->ki N=i:2')

# Special functions.
a = np.array([0.3, 0.5, 1, 2.5, 10, 50, 3], np.float32)
x = np.array([0.2, 2, 1, 2.5, 12, 40, 0], np.float32)
emit('Igamma', [a, x], [sp.gammainc(a, x)])
emit('Igammac', [a, x], [sp.gammaincc(a, x)])
b = np.array([0.4, 2, 1, 3.5, 5, 60, 3], np.float32)
x = np.array([0.2, 0.7, 0.5, 0.01, 0.8, 0.45, 0], np.float32)
emit('Betainc', [a, b, x], [sp.betainc(a, b, x)])
emit('Zeta', [np.array([1.5, 2, 3, 8], np.float32), np.array([1, 0.5, 2.5, 4], np.float32)],
     [sp.zeta(np.array([1.5, 2, 3, 8]), np.array([1, 0.5, 2.5, 4])).astype(np.float32)])
emit('Polygamma', [np.array([0, 1, 2, 3], np.float32), np.array([1.5, 0.5, 2.5, 4], np.float32)],
     [sp.polygamma(np.array([0, 1, 2, 3]), np.array([1.5, 0.5, 2.5, 4])).astype(np.float32)])
y = np.array([-0.999, -0.5, 0, 0.1, 0.9, 0.99999], np.float32)
emit('Erfinv', [y], [sp.erfinv(y)])
y = np.array([0.001, 0.25, 0.5, 0.9], np.float32)
emit('Ndtri', [y], [sp.ndtri(y)])
x = np.array([-20, -3, -0.5, 0, 0.1, 4, 30], np.float32)
for name, fn in [('BesselI0', sp.i0), ('BesselI0e', sp.i0e), ('BesselI1', sp.i1), ('BesselI1e', sp.i1e)]:
    emit(name, [x], [fn(x)])
x, y = np.array([0, 1, 2, 0], np.float32), np.array([0, 3, 0.5, -1], np.float32)
emit('Xlogy', [x, np.abs(y)], [sp.xlogy(x, np.abs(y))])
emit('Xlog1py', [x, np.abs(y)], [sp.xlog1py(x, np.abs(y))])
emit('Xdivy', [x, y], [np.array([0, 1 / 3, 4, 0], np.float32)])
emit('MulNoNan', [np.array([np.nan, np.inf, 3], np.float32), np.array([0, 0, 2], np.float32)],
     [np.array([0, 0, 6], np.float32)])
x = f(2, 3)
emit('Expm1', [x], [np.expm1(x)])
emit('Sinh', [x], [np.sinh(x)])
emit('ApproximateEqual', [x, x + np.array([0, 0.01, 0.2], np.float32)],
     [np.array([[True, True, False]] * 2)], 'tolerance=f:0.1')
emit('ClipByValue', [x, np.float32(-0.5), np.float32(0.5)], [np.clip(x, -0.5, 0.5)])
emit('EuclideanNorm', [x, Const(i32(1))], [np.linalg.norm(x, axis=1, keepdims=True)], 'keep_dims=b:true')
emit('CumulativeLogsumexp', [x, Const(s32(1))], [np.logaddexp.accumulate(x[:, ::-1], axis=1)[:, ::-1]],
     'reverse=b:true')

# Bits and counts.
x = np.array([1, -2, 123456], np.int32)
emit('PopulationCount', [x], [np.array([bin(int(v) & 0xffffffff).count('1') for v in x], np.uint8)])
emit('Bitcast', [x], [x.view(np.uint8).reshape(3, 4)], 'type=type:uint8')
x = f(3, 2)
emit('Bitcast', [x], [x.view(np.int64).reshape(3)], 'type=type:int64')
x = f(2, 8)
emit('CompareAndBitpack', [x, np.float32(0.1)], [np.packbits(x > 0.1, axis=-1)])
x = np.array([[-1.5, 0.5], [2, 9]], np.float32)
emit('Bucketize', [x], [np.digitize(x, [0, 2, 5]).astype(np.int32)], 'boundaries=lf:0,2,5')
rows, values = np.sort(f(2, 5), axis=1), f(2, 3)
emit('LowerBound', [rows, values], [np.stack([np.searchsorted(r, v) for r, v in zip(rows, values)]).astype(np.int64)],
     'out_type=type:int64')
emit('UpperBound', [rows, values],
     [np.stack([np.searchsorted(r, v, side='right') for r, v in zip(rows, values)]).astype(np.int32)])
emit('UnravelIndex', [i32(5, 11), Const(i32(3, 4))], [np.array(np.unravel_index([5, 11], (3, 4)), np.int32)])
x = i32(1, 1, 3, 0, 7)
emit('DenseBincount', [x, Const(s32(5)), Const(np.zeros(0, np.float32))], [np.array([1, 2, 0, 1, 0], np.float32)],
     'T=type:float Tidx=type:int32')
emit('DenseBincount', [x, Const(s32(5)), Const(np.zeros(0, np.float32))], [np.array([1, 1, 0, 1, 0], np.float32)],
     'T=type:float Tidx=type:int32 binary_output=b:true')

# Complex numbers and Fourier transforms.
re, im = f(2, 4), f(2, 4)
z = re + 1j * im
C = 'node c Complex x0 x1'


def pair(op, inputs, value, nodes):
    emit(op, inputs, [value.real.astype(np.float32), value.imag.astype(np.float32)], nodes=nodes)
    out[-1] = out[-1].replace('out y:1', 'out z')


T = ['node y Real t', 'node z Imag t']
for op, fn in [('FFT', np.fft.fft), ('IFFT', np.fft.ifft), ('FFT2D', np.fft.fft2), ('IFFT2D', np.fft.ifft2)]:
    pair(op, [re, im], fn(z), [C, 'node t %s c' % op] + T)
re3, im3 = f(2, 3, 4), f(2, 3, 4)
pair('FFT3D', [re3, im3], np.fft.fftn(re3 + 1j * im3), [C, 'node t FFT3D c'] + T)
pair('IFFT3D', [re3, im3], np.fft.ifftn(re3 + 1j * im3), [C, 'node t IFFT3D c'] + T)
for n in [4, 6, 3]:
    pair('RFFT', [re, Const(i32(n))], np.fft.rfft(re, n), ['node t RFFT x0 x1'] + T)
pair('RFFT2D', [re, Const(i32(3, 5))], np.fft.rfft2(re, (3, 5)), ['node t RFFT2D x0 x1'] + T)
pair('RFFT3D', [re3, Const(i32(2, 3, 4))], np.fft.rfftn(re3), ['node t RFFT3D x0 x1'] + T)
for n in [6, 7, 5]:
    emit('IRFFT', [re, im, Const(i32(n))], [np.fft.irfft(z, n).astype(np.float32)], nodes=[C, 'node y IRFFT c x2'])
emit('IRFFT2D', [re, im, Const(i32(2, 6))], [np.fft.irfft2(z, (2, 6)).astype(np.float32)],
     nodes=[C, 'node y IRFFT2D c x2'])
emit('IRFFT3D', [re3, im3, Const(i32(2, 3, 6))], [np.fft.irfftn(re3 + 1j * im3, (2, 3, 6)).astype(np.float32)],
     nodes=[C, 'node y IRFFT3D c x2'])
emit('ComplexAbs', [re, im], [np.abs(z)], nodes=[C, 'node y ComplexAbs c'])
emit('Angle', [re, im], [np.angle(z)], nodes=[C, 'node y Angle c'])
pair('Conj', [re, im], np.conj(z), [C, 'node t Conj c'] + T)
pair('Mul', [re, im], z * np.conj(z) * z, [C, 'node k Conj c', 'node m Mul c k', 'node t Mul m c'] + T)
pair('Add', [re, im], z + z, [C, 'node t AddV2 c c'] + T)
pair('Sub', [re, im], z - np.conj(z), [C, 'node k Conj c', 'node t Sub c k'] + T)

# Gradients.
dy, x = f(2, 3), f(2, 3) * 4
sig = 1 / (1 + np.exp(-x))
emit('ReluGrad', [dy, x], [dy * (x > 0)])
emit('Relu6Grad', [dy, x], [dy * ((x > 0) & (x < 6))])
emit('LeakyReluGrad', [dy, x], [np.where(x > 0, dy, dy * np.float32(0.3))], 'alpha=f:0.3')
emit('SoftplusGrad', [dy, x], [dy * sig])
emit('SoftsignGrad', [dy, x], [dy / (1 + np.abs(x)) ** 2])
elu = np.where(x > 0, x, np.expm1(x))
emit('EluGrad', [dy, elu], [np.where(x > 0, dy, dy * np.exp(x))])
sa, sc = 1.6732632423543772, 1.0507009873554805
selu = np.where(x > 0, sc * x, sc * sa * np.expm1(x)).astype(np.float32)
emit('SeluGrad', [dy, selu], [np.where(x > 0, dy * sc, dy * sc * sa * np.exp(x)).astype(np.float32)])
emit('SigmoidGrad', [sig, dy], [dy * sig * (1 - sig)])
emit('TanhGrad', [np.tanh(x), dy], [dy * (1 - np.tanh(x) ** 2)])
p = np.abs(x) + 0.5
emit('ReciprocalGrad', [1 / p, dy], [-dy / p ** 2])
emit('SqrtGrad', [np.sqrt(p), dy], [dy * 0.5 / np.sqrt(p)])
emit('RsqrtGrad', [1 / np.sqrt(p), dy], [(dy * -0.5 * p ** -1.5).astype(np.float32)])
x = f(2, 3, 4, 5)
emit('BiasAddGrad', [x], [x.sum((0, 2, 3))], 'data_format=s:NCHW')

# Sparse tensors.
ind = np.array([[0, 2], [1, 0], [3, 1]], np.int64)
val = np.array([1, 2, 3], np.float32)
shape = i64(4, 3)
dense = np.zeros((4, 3), np.float32)
dense[tuple(ind.T)] = val
emit('SparseReorder', [ind[::-1].copy(), val[::-1].copy(), Const(shape)], [ind, val])
flat = np.ravel_multi_index(tuple(ind.T), (4, 3))
emit('SparseReshape', [ind, Const(shape), Const(i64(2, -1))],
     [np.stack(np.unravel_index(flat, (2, 6)), 1).astype(np.int64), i64(2, 6)])
both = np.concatenate([dense, dense], 1)
emit('SparseConcat', [ind, ind, val, val, Const(shape), Const(shape)],
     [np.argwhere(both).astype(np.int64), both[both != 0], i64(4, 6)], 'concat_dim=i:-1 N=i:2')
emit('SparseSlice', [ind, val, Const(shape), Const(i64(1, 0)), Const(i64(5, 2))],
     [np.array([[0, 0], [2, 1]], np.int64), np.array([2, 3], np.float32), i64(3, 2)])
emit('SparseFillEmptyRows', [ind, val, Const(shape), Const(np.float32(-1))],
     [np.array([[0, 2], [1, 0], [2, 0], [3, 1]], np.int64), np.array([1, 2, -1, 3], np.float32),
      np.array([False, False, True, False]), i64(0, 1, 3)])
emit('SparseReduceSum', [ind, val, Const(shape), Const(i32(1))], [dense.sum(1, keepdims=True)], 'keep_dims=b:true')
emit('SparseReduceMax', [ind, -val, Const(shape), Const(i32(0))], [np.array([[-2, -3, -1]], np.float32)],
     'keep_dims=b:true')
other = f(4, 3)
emit('SparseDenseCwiseAdd', [ind, val, Const(shape), other], [val + other[tuple(ind.T)]])
emit('SparseDenseCwiseMul', [ind, val, Const(shape), other[0]], [val * other[0][ind[:, 1]]])
emit('SparseDenseCwiseDiv', [ind, val, Const(shape), other], [val / other[tuple(ind.T)]])
ind2 = np.array([[0, 0], [0, 2], [1, 1]], np.int64)
emit('SparseSoftmax', [ind2, val, Const(shape)], [np.array(list(sp.softmax(val[:2])) + [1], np.float32)])
emit('SparseAdd', [ind, val, Const(shape), ind2, np.array([4, -1, 6], np.float32), Const(shape), Const(np.float32(0.5))],
     [np.array([[0, 0], [1, 0], [1, 1], [3, 1]], np.int64), np.array([4, 2, 6, 3], np.float32), shape])
emit('SparseSparseMaximum', [ind, val, Const(shape), ind2, np.array([4, -1, -6], np.float32), Const(shape)],
     [np.array([[0, 0], [0, 2], [1, 0], [1, 1], [3, 1]], np.int64), np.array([4, 1, 2, 0, 3], np.float32)])
emit('SparseSparseMinimum', [ind, val, Const(shape), ind2, np.array([4, -1, -6], np.float32), Const(shape)],
     [np.array([[0, 0], [0, 2], [1, 0], [1, 1], [3, 1]], np.int64), np.array([0, -1, 0, -6, 0], np.float32)])
emit('SparseToDense', [ind, Const(shape), val, Const(np.float32(9))], [np.where(dense == 0, 9, dense)])
b = f(2, 4)
emit('SparseTensorDenseMatMul', [ind, val, Const(shape), b], [dense.T @ b.T], 'adjoint_a=b:true adjoint_b=b:true')

# Ragged tensors.
splits = i64(0, 2, 2, 5)
values = f(5)
wide = np.full((3, 3), -1, np.float32)
wide[0, :2], wide[2] = values[:2], values[2:]
emit('RaggedTensorToTensor', [Const(i64(-1, -1)), values, Const(np.float32(-1)), splits], [wide],
     'row_partition_types=ls:ROW_SPLITS num_row_partition_tensors=i:1')
emit('RaggedTensorToTensor', [Const(i64(3, 2)), values, Const(np.float32(-1)), Const(np.int64(3)), i64(0, 0, 2, 2, 2)],
     [wide[:, :2]], 'row_partition_types=ls:FIRST_DIM_SIZE,VALUE_ROWIDS num_row_partition_tensors=i:2')
emit('RaggedTensorToSparse', [splits, values],
     [np.array([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], np.int64), values, i64(3, 3)], 'RAGGED_RANK=i:1')
emit('RaggedRange', [i32(0, 5, 8), i32(3, 5, 2), i32(1, 1, -2)],
     [i64(0, 3, 3, 6), i32(0, 1, 2, 8, 6, 4)], 'T=type:int32')
emit('RaggedGather', [splits, values, i64(2, 0, 1)], [i64(0, 3, 5, 5), np.concatenate([values[2:], values[:2]])],
     'PARAMS_RAGGED_RANK=i:1 OUTPUT_RAGGED_RANK=i:1')

# Segments.
x, ids = f(5, 2), i32(0, 0, 2, 2, 2)
sums = np.stack([x[:2].sum(0), np.zeros(2), x[2:].sum(0)]).astype(np.float32)
emit('SegmentSum', [x, ids], [sums])
pick = i32(0, 3, 4, 1, 1)
y = x[pick]
sums = np.stack([y[:2].sum(0), np.zeros(2), y[2:].sum(0)]).astype(np.float32)
count = np.array([[2], [1], [3]], np.float32)
emit('SparseSegmentSum', [x, pick, ids], [sums])
emit('SparseSegmentMean', [x, pick, ids], [sums / count])
emit('SparseSegmentSqrtN', [x, pick, ids], [sums / np.sqrt(count)])
four = np.concatenate([sums, np.zeros((1, 2), np.float32)])
emit('SparseSegmentSumWithNumSegments', [x, pick, ids, Const(s32(4))], [four])
base, at, upd = f(4, 2), np.array([[1], [3], [1]], np.int32), f(3, 2)
for op, fn in [('TensorScatterMax', np.maximum), ('TensorScatterMin', np.minimum)]:
    want = base.copy()
    for k, row in zip(at[:, 0], upd):
        want[k] = fn(want[k], row)
    emit(op, [base, at, upd], [want])
emit('ListDiff', [i32(1, 2, 3, 4, 5, 6), i32(1, 3, 5)], [i32(2, 4, 6), i64(1, 3, 5)], 'out_idx=type:int64')

# Arrays.
emit('Concat', [Const(s32(1)), base, base[:, :1].copy()], [np.concatenate([base, base[:, :1]], 1)], 'N=i:2')
emit('Reverse', [base, Const(np.array([False, True]))], [base[:, ::-1]])
emit('SelectV2', [np.array([[True], [False]]), f(1, 3) * 0 + 1, np.float32(5)],
     [np.array([[1, 1, 1], [5, 5, 5]], np.float32)])
emit('Size', [base], [np.int64(8)], 'out_type=type:int64')
x = f(1, 4, 6, 2)


def space_to_depth(v, n):
    b, h, w, c = v.shape
    return v.reshape(b, h // n, n, w // n, n, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h // n, w // n, n * n * c)


emit('SpaceToDepth', [x], [space_to_depth(x, 2)], 'block_size=i:2')
first = x.transpose(0, 3, 1, 2).copy()
emit('SpaceToDepth', [first], [space_to_depth(x, 2).transpose(0, 3, 1, 2)], 'block_size=i:2 data_format=s:NCHW')
blocks = x.reshape(1, 2, 2, 3, 2, 2).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 3, 2)
emit('SpaceToBatch', [x, Const(np.zeros((2, 2), np.int32))], [blocks], 'block_size=i:2')
emit('BatchToSpace', [blocks.copy(), Const(i32(0, 1, 1, 0).reshape(2, 2))], [x[:, :-1, 1:]], 'block_size=i:2')
mean, var, beta, gamma = f(2), u(2) + 0.5, f(2), f(2)
emit('BatchNormWithGlobalNormalization', [x, mean, var, beta, gamma],
     [((x - mean) / np.sqrt(var + np.float32(0.01)) * gamma + beta)],
     'variance_epsilon=f:0.01 scale_after_normalization=b:true')
emit('Prelu', [x, Const(np.array([0.1, 0.3], np.float32))], [np.where(x > 0, x, x * np.array([0.1, 0.3], np.float32))])
k = f(2, 2, 2)
want = np.full((1, 3, 5, 2), -np.inf, np.float32)
for i in range(2):
    for j in range(2):
        want = np.maximum(want, x[:, i:i + 3, j:j + 5] + k[i, j])
emit('Dilation2D', [x, k], [want], 'strides=li:1,1,1,1 rates=li:1,1,1,1 padding=s:VALID', sized=True)
w, bias = f(2, 2, 2, 3), f(3)


def conv(v, w):
    o = 0
    for i in range(2):
        for j in range(2):
            o = o + v[:, i:i + 3, j:j + 5] @ w[i, j]
    return o


emit('_FusedConv2D', [x, w, bias], [np.maximum(conv(x, w) + bias, 0)],
     'strides=li:1,1,1,1 padding=s:VALID num_args=i:1 fused_ops=ls:BiasAdd,Relu')
a, b, c = f(2, 3), f(3, 4), f(4)
emit('_FusedMatMul', [a, b, c], [np.minimum(np.maximum(a @ b + c, 0), 6)], 'num_args=i:1 fused_ops=ls:BiasAdd,Relu6')
emit('_FusedMatMul', [a.T.copy(), b, c], [np.tanh(a @ b + c)],
     'num_args=i:1 transpose_a=b:true fused_ops=ls:BiasAdd,Tanh')
w = f(2, 2, 2, 1)
want = 0
for i in range(2):
    for j in range(2):
        want = want + x[:, i:i + 3, j:j + 5] * w[i, j, :, 0]
emit('_FusedDepthwiseConv2dNative', [x, Const(w), np.array([1, -1], np.float32)],
     [np.maximum(want + np.array([1, -1], np.float32), 0)],
     'strides=li:1,1,1,1 padding=s:VALID num_args=i:1 fused_ops=ls:BiasAdd,Relu')

x = f(3, 4)
emit('ArgMax', [x, Const(s32(1))], [x.argmax(1).astype(np.int32)], 'output_type=type:int32')
emit('ArgMin', [x, Const(s32(0))], [x.argmin(0).astype(np.int32)], 'output_type=type:int32')
a, b = f(2, 3, 4), f(2, 5, 3)
emit('BatchMatMulV2', [a, b], [np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2)], 'adj_x=b:true adj_y=b:true')
emit('Cumprod', [x, Const(s32(1))], [np.cumprod(x[:, ::-1], 1)[:, ::-1]], 'reverse=b:true')
at = np.array([[2, 0], [1, 1]], np.int32)
emit('GatherV2', [a, at, Const(s32(1))], [np.stack([p[k] for p, k in zip(a, at)])], 'batch_dims=i:1')
emit('HistogramFixedWidth', [np.array([-1, 0, 1.5, 2, 5, 15], np.float32), Const(np.array([0, 5], np.float32)),
                             Const(s32(5))], [i64(2, 1, 1, 0, 2)], 'dtype=type:int64')
emit('Shape', [a], [i64(2, 3, 4)], 'out_type=type:int64')
emit('ShapeN', [a, x], [i64(2, 3, 4), i64(3, 4)], 'out_type=type:int64 N=i:2')
emit('Unique', [i32(4, 1, 4, 2, 1)], [i32(4, 1, 2), i64(0, 1, 0, 2, 1)], 'out_idx=type:int64')
emit('UniqueWithCounts', [i32(4, 1, 4, 2, 1)], [i32(4, 1, 2), i64(0, 1, 0, 2, 1), i64(2, 2, 1)], 'out_idx=type:int64')
x = f(1, 3, 3, 2)
rows = np.round(np.arange(5) * np.float32(2 / 4) + 1e-6).astype(int)
emit('ResizeNearestNeighbor', [x, Const(i32(5, 5))], [x[:, rows][:, :, rows]], 'align_corners=b:true')
rows = np.floor((np.arange(2) + 0.5) * 1.5).astype(int)
emit('ResizeNearestNeighbor', [x, Const(i32(2, 2))], [x[:, rows][:, :, rows]], 'half_pixel_centers=b:true')

# Boxes.
boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                  [0, 100, 1, 101]], np.float32)
scores = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)


def iou(a, b):
    area = lambda t: (t[2] - t[0]) * (t[3] - t[1])
    h = min(a[2], b[2]) - max(a[0], b[0])
    w = min(a[3], b[3]) - max(a[1], b[1])
    inter = max(h, 0) * max(w, 0)
    return inter / (area(a) + area(b) - inter)


overlaps = np.array([[iou(p, q) for q in boxes] for p in boxes], np.float32)
emit('NonMaxSuppressionWithOverlaps', [overlaps, scores, Const(s32(4)), Const(np.float32(0.5)), Const(np.float32(0.4))],
     [i32(3, 0)])
s, picked, kept = scores.astype(np.float64).copy(), [], []
while len(picked) < 5:
    k = int(np.argmax(s))
    if s[k] <= 0.05:
        break
    picked.append(k)
    kept.append(s[k])
    s *= np.exp(-0.5 / 0.5 * overlaps[k].astype(np.float64) ** 2)
    s[picked] = -1
padded = lambda v, n: np.concatenate([v, np.zeros(n - len(v), v.dtype)])
emit('NonMaxSuppressionV5',
     [boxes, scores, Const(s32(5)), Const(np.float32(1)), Const(np.float32(0.05)), Const(np.float32(0.5))],
     [padded(i32(*picked), 5), padded(np.array(kept, np.float32), 5), s32(len(picked))],
     'pad_to_max_output_size=b:true')
image = u(1, 5, 6, 3)
colors = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
rect = np.array([[[0.25, 0.2, 0.75, 0.8], [0, 0, 1, 1], [0.5, 0.5, 2, 2]]], np.float32)
want = image.copy()
for n, (y0, x0, y1, x1) in enumerate(rect[0]):
    y0, y1 = int(np.float32(y0) * 4), int(np.float32(y1) * 4)
    x0, x1 = int(np.float32(x0) * 5), int(np.float32(x1) * 5)
    for i in range(5):
        for j in range(6):
            if (y0 <= i <= y1 and j in (x0, x1)) or (x0 <= j <= x1 and i in (y0, y1)):
                want[0, i, j] = colors[n % 2]
emit('DrawBoundingBoxesV2', [image, rect, colors], [want])


def combined(boxes, scores, per_class, total, limit, threshold):
    found = []
    for c in range(scores.shape[1]):
        order, kept = np.argsort(-scores[:, c], kind='stable'), []
        for k in order:
            if scores[k, c] > threshold and len(kept) < per_class and all(iou(boxes[k], boxes[j]) <= limit for j in kept):
                kept.append(k)
        found += [(scores[k, c], c, k) for k in kept]
    found = sorted(found, key=lambda t: (-t[0], t[1]))[:total]
    pad = total - len(found)
    return (np.array([boxes[k] for _, _, k in found] + [[0] * 4] * pad, np.float32),
            np.array([s for s, _, _ in found] + [0] * pad, np.float32),
            np.array([c for _, c, _ in found] + [0] * pad, np.float32), len(found))


grid = np.array([[0, 0, 0.4, 0.4], [0, 0.1, 0.4, 0.5], [0.5, 0.5, 0.9, 0.9], [0.5, 0.6, 0.9, 1.2], [0.1, 0.6, 0.4, 0.9]],
                np.float32)
cls = np.array([[0.9, 0.1], [0.8, 0.35], [0.2, 0.7], [0.6, 0.65], [0.55, 0.05]], np.float32)
r = combined(grid, cls, 3, 6, 0.4, 0.15)
emit('CombinedNonMaxSuppression',
     [grid[None, :, None], cls[None], Const(s32(3)), Const(s32(6)), Const(np.float32(0.4)), Const(np.float32(0.15))],
     [r[0][None], r[1][None], r[2][None], i32(r[3])], 'clip_boxes=b:false')
r = combined(grid, cls, 2, 4, 0.4, 0.15)
emit('CombinedNonMaxSuppression',
     [grid[None, :, None], cls[None], Const(s32(2)), Const(s32(9)), Const(np.float32(0.4)), Const(np.float32(0.15))],
     [np.clip(r[0], 0, 1)[None], r[1][None], r[2][None], i32(r[3])], 'pad_per_class=b:true')

# Quantisation.
x = np.array([-1.2, -0.3, 0.2, 0.71, 2], np.float32)
emit('QuantizeAndDequantizeV2', [x, Const(np.float32(-1)), Const(np.float32(1))],
     [(np.round(np.clip(x, -8 / 7, 1) * 7) / 7).astype(np.float32)], 'range_given=b:true num_bits=i:4')
emit('QuantizeAndDequantizeV2', [x, Const(np.float32(0)), Const(np.float32(0))],
     [(np.round(x / (2 / 127)) * (2 / 127)).astype(np.float32)], 'range_given=b:false')
emit('QuantizeAndDequantizeV3', [np.abs(x), Const(np.float32(0)), Const(np.float32(1.5)), Const(s32(4))],
     [(np.floor(np.clip(np.abs(x), 0, 1.5) / 0.1 + 0.5) * 0.1).astype(np.float32)], 'signed_input=b:false')
q = np.array([0, 10, 255], np.uint8)
emit('Dequantize', [q, Const(np.float32(-1)), Const(np.float32(3))], [(q * (4 / 255) - 1).astype(np.float32)],
     'T=type:quint8')
q = np.array([-128, 10, 127], np.int8)
emit('Dequantize', [q, Const(np.float32(-1)), Const(np.float32(3))], [(q * (3 / 127)).astype(np.float32)],
     'T=type:qint8 mode=s:SCALED')
x = np.array([-1, 0, 0.5, 3, 7], np.float32)
emit('QuantizeV2', [x, Const(np.float32(-1)), Const(np.float32(3))],
     [np.round((np.clip(x, -1, 3) + 1) * 255 / 4).astype(np.uint8), np.float32(-1), np.float32(3)], 'T=type:quint8')
emit('QuantizeV2', [x, Const(np.float32(-1)), Const(np.float32(3))],
     [np.round(np.clip(x, -3 * 128 / 127, 3) * 127 / 3).astype(np.int8), np.float32(-3 * 128 / 127), np.float32(3)],
     'T=type:qint8 mode=s:SCALED round_mode=s:HALF_TO_EVEN')

# Labels.
logits = f(4, 2, 3)
logits[0, 0] = [3, 0, 0]
logits[1, 0] = [4, 1, 0]
logits[2, 0] = [0, 0, 2]
logits[3, 0] = [0, 5, 1]
logits[0, 1] = [0, 2, 0]
logits[1, 1] = [0, 2.5, 0]
emit('CTCGreedyDecoder', [logits, i32(4, 2)],
     [np.array([[0, 0], [0, 1], [1, 0]], np.int64), i64(0, 1, 1), i64(2, 2),
      np.array([[-14], [-4.5]], np.float32)], 'merge_repeated=b:true')

# Random numbers.
bounded = scipy.stats.truncnorm(-0.5, 1.5, loc=1, scale=2)
big = Const(i32(100, 200))
for op, extra, random in [
        ('TruncatedNormal', [], 'float [100,200] 0 0.8796 0.03'),
        ('StatelessRandomUniform', [Const(i32(1, 2))], 'float [100,200] 0.5 0.2887 0.02'),
        ('StatelessRandomNormal', [Const(i32(1, 2))], 'float [100,200] 0 1 0.04'),
        ('StatelessTruncatedNormal', [Const(i32(1, 2))], 'float [100,200] 0 0.8796 0.03'),
        ('ParameterizedTruncatedNormal', [Const(np.float32(v)) for v in (1, 2, 0, 4)],
         'float [100,200] %.4f %.4f 0.04' % (bounded.mean(), bounded.std()))]:
    emit(op, [big] + extra, [], 'dtype=type:float seed=i:3', random=random)
emit('StatelessRandomUniformInt', [big, Const(i32(1, 2)), Const(s32(-2)), Const(s32(8))], [], 'dtype=type:int32',
     random='int32 [100,200] 2.5 2.872 0.1')
emit('RandomUniformInt', [big, Const(np.int64(-2)), Const(np.int64(8))], [], 'seed=i:1 seed2=i:2',
     random='int64 [100,200] 2.5 2.872 0.1')
emit('RandomGamma', [big, Const(np.array([2.5], np.float32))], [], 'seed=i:5', random='float [100,200,1] 2.5 1.5811 0.06')
emit('RandomGamma', [big, Const(np.array([0.5], np.float32))], [], 'seed=i:5', random='float [100,200,1] 0.5 0.7071 0.04')
emit('StatelessRandomGammaV2', [big, Const(i32(1, 2)), Const(np.array([3], np.float32))], [], '',
     random='float [100,200,1] 3 1.7321 0.07')
emit('RandomPoissonV2', [big, Const(np.array([4], np.float32))], [], 'R=type:float dtype=type:int32 seed=i:4',
     random='int32 [100,200,1] 4 2 0.07')
emit('RandomPoissonV2', [big, Const(np.array([900], np.float32))], [], 'R=type:float dtype=type:double seed=i:4',
     random='double [100,200,1] 900 30 0.9')
emit('StatelessRandomPoisson', [big, Const(i32(1, 2)), Const(np.float32(7))], [], 'dtype=type:int64',
     random='int64 [100,200] 7 2.6458 0.09')
odds = np.log(np.array([[0.2, 0.5, 0.3]], np.float32))
emit('Multinomial', [odds, Const(s32(20000))], [], 'seed=i:9 output_dtype=type:int32', random='int32 [1,20000] 1.1 0.7 0.02')
emit('StatelessMultinomial', [odds, Const(s32(20000)), Const(i32(1, 2))], [], 'output_dtype=type:int64',
     random='int64 [1,20000] 1.1 0.7 0.02')



# Recurrent cells as Keras spells them out: a While over steps, with lists of what is read and written.
def function(name, args, results, nodes):
    text = ' function { signature { name: "%s"' % name
    for arg, kind in args:
        text += ' input_arg { name: "%s" type: DT_%s }' % (arg, kind)
    for i, (kind, _) in enumerate(results):
        text += ' output_arg { name: "r%d" type: DT_%s }' % (i, kind)
    text += ' }'
    for node, op, inputs, *attrs in nodes:
        text += ' node_def { name: "%s" op: "%s"' % (node, op) + ''.join(' input: "%s"' % i for i in inputs)
        text += ''.join(' attr { key: "%s" value { %s } }' % a for a in attrs) + ' }'
    for i, (_, value) in enumerate(results):
        text += ' ret { key: "r%d" value: "%s" }' % (i, value)
    return text + ' }'


def number(name, value):
    tensor = 'tensor { dtype: DT_INT32 tensor_shape { %s} %s }'
    dims = 'dim { size: %d } ' % len(value) if isinstance(value, list) else ''
    values = ' '.join('int_val: %d' % v for v in (value if isinstance(value, list) else [value]))
    return (name, 'Const', [], ('dtype', 'type: DT_INT32'), ('value', tensor % (dims, values)))


def recurrent(op, x, states, weights, cell, results):
    """x [steps, batch, in]; the cell's nodes make new states from x, h, (c) and the weights w0, w1, ..."""
    steps, batch, _ = x.shape
    size = states[0].shape[1]
    names = ['h', 'c'][:len(states)]
    out.extend(['', 'case ' + op, 'makes ' + op, 'in x ' + spelt(x)])
    for name, state in zip(names, states):
        out.append('in %s %s' % (name, spelt(state)))
    for i, w in enumerate(weights):
        out.append('const w%d %s' % (i, spelt(w)))
    out.extend(['const zero int32 [] 0', 'const one int32 [1] 1', 'const first int32 [1] 0',
                'const place int32 [2] -1 %d' % size, 'const item int32 [2] -1 %d' % x.shape[2],
                'node dims Shape x', 'node steps StridedSlice dims first one one shrink_axis_mask=i:1',
                'node given TensorListFromTensor x item element_dtype=type:float',
                'node list TensorListReserve place steps element_dtype=type:float'])
    args = [('i', 'INT32'), ('t', 'INT32'), ('list', 'VARIANT')] + [(n, 'FLOAT') for n in names]
    args += [('steps', 'INT32'), ('given', 'VARIANT')] + [('w%d' % i, 'FLOAT') for i in range(len(weights))]
    body = [number('one', 1), number('item', [-1, x.shape[2]]), ('j', 'AddV2', ['i', 'one:output:0']),
            ('u', 'AddV2', ['t', 'one:output:0']),
            ('x', 'TensorListGetItem', ['given', 't', 'item:output:0'], ('element_dtype', 'type: DT_FLOAT'))]
    body += cell + [('set', 'TensorListSetItem', ['list', 't', 'new_h:z:0'], ('element_dtype', 'type: DT_FLOAT'))]
    after = [('INT32', 'j:z:0'), ('INT32', 'u:z:0'), ('VARIANT', 'set:output_handle:0')]
    after += [('FLOAT', 'new_%s:z:0' % n) for n in names] + [('INT32', 'steps'), ('VARIANT', 'given')]
    after += [('FLOAT', 'w%d' % i) for i in range(len(weights))]
    condition = [('more', 'Less', ['t', 'steps']), ('also', 'Less', ['i', 'steps']),
                 ('both', 'LogicalAnd', ['more:z:0', 'also:z:0'])]
    out.append('text library {' + function('B', args, after, body) +
               function('C', args, [('BOOL', 'both:z:0')], condition) + ' }')
    inputs = ['zero', 'zero', 'list'] + names + ['steps', 'given'] + ['w%d' % i for i in range(len(weights))]
    out.append('node loop While %s cond=func:C body=func:B' % ' '.join(inputs))
    out.append('node y TensorListStack loop:2 place element_dtype=type:float')
    for i, name in enumerate(names):
        out.append('node last_%s Identity loop:%d' % (name, 3 + i))
    out.append('out y ' + spelt(results[0]))
    for name, value in zip(names, results[1:]):
        out.append('out last_%s %s' % (name, spelt(value)))


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


x, h, c = f(4, 2, 3), f(2, 5), f(2, 5)
k, r, b = f(3, 20) * 0.5, f(5, 20) * 0.5, f(20) * 0.5
all_h, now_h, now_c = [], h, c
for step in x:
    z = step @ k + now_h @ r + b
    i, fo, g, o = np.split(z, 4, axis=1)
    now_c = sigmoid(fo) * now_c + sigmoid(i) * np.tanh(g)
    now_h = sigmoid(o) * np.tanh(now_c)
    all_h.append(now_h)
S = ('num_split', 'i: 4')
recurrent('LSTM', x, [h, c], [k, r, b],
          [('xk', 'MatMul', ['x:item:0', 'w0']), ('hr', 'MatMul', ['h', 'w1']), ('sum', 'AddV2', ['xk:product:0', 'hr:product:0']),
           ('z', 'BiasAdd', ['sum:z:0', 'w2']), number('axis', 1), ('p', 'Split', ['axis:output:0', 'z:output:0'], S),
           ('gi', 'Sigmoid', ['p:output:0']), ('gf', 'Sigmoid', ['p:output:1']), ('fc', 'Mul', ['gf:y:0', 'c']),
           ('g', 'Tanh', ['p:output:2']), ('ig', 'Mul', ['gi:y:0', 'g:y:0']), ('new_c', 'AddV2', ['fc:z:0', 'ig:z:0']),
           ('go', 'Sigmoid', ['p:output:3']), ('th', 'Tanh', ['new_c:z:0']), ('new_h', 'Mul', ['go:y:0', 'th:y:0'])],
          [np.stack(all_h).astype(np.float32), now_h.astype(np.float32), now_c.astype(np.float32)])

k, r, b0, b1 = f(3, 15) * 0.5, f(5, 15) * 0.5, f(15) * 0.5, f(15) * 0.5
all_h, now_h = [], h
for step in x:
    xz, xr, xh = np.split(step @ k + b0, 3, axis=1)
    hz, hr, hh = np.split(now_h @ r + b1, 3, axis=1)
    z, reset = sigmoid(xz + hz), sigmoid(xr + hr)
    now_h = z * now_h + (1 - z) * np.tanh(xh + reset * hh)
    all_h.append(now_h)
S = ('num_split', 'i: 3')
ONE = ('value', 'tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 }')
recurrent('GRU', x, [h], [k, r, b0, b1],
          [('xk', 'MatMul', ['x:item:0', 'w0']), ('xb', 'BiasAdd', ['xk:product:0', 'w2']), number('axis', 1),
           ('p', 'Split', ['axis:output:0', 'xb:output:0'], S), ('hk', 'MatMul', ['h', 'w1']),
           ('hb', 'BiasAdd', ['hk:product:0', 'w3']), ('q', 'Split', ['axis:output:0', 'hb:output:0'], S),
           ('za', 'AddV2', ['p:output:0', 'q:output:0']), ('z', 'Sigmoid', ['za:z:0']),
           ('ra', 'AddV2', ['p:output:1', 'q:output:1']), ('r', 'Sigmoid', ['ra:z:0']),
           ('rh', 'Mul', ['r:y:0', 'q:output:2']), ('na', 'AddV2', ['p:output:2', 'rh:z:0']), ('n', 'Tanh', ['na:z:0']),
           ('zh', 'Mul', ['z:y:0', 'h']), ('unit', 'Const', [], ('dtype', 'type: DT_FLOAT'), ONE),
           ('rest', 'Sub', ['unit:output:0', 'z:y:0']), ('rn', 'Mul', ['rest:z:0', 'n:y:0']),
           ('new_h', 'AddV2', ['zh:z:0', 'rn:z:0'])],
          [np.stack(all_h).astype(np.float32), now_h.astype(np.float32)])

k, r, b = f(3, 5) * 0.5, f(5, 5) * 0.5, f(5) * 0.5
all_h, now_h = [], h
for step in x:
    now_h = np.tanh(step @ k + b + now_h @ r)
    all_h.append(now_h)
recurrent('RNN', x, [h], [k, r, b],
          [('xk', 'MatMul', ['x:item:0', 'w0']), ('xb', 'BiasAdd', ['xk:product:0', 'w2']),
           ('hr', 'MatMul', ['h', 'w1']), ('sum', 'AddV2', ['xb:output:0', 'hr:product:0']),
           ('th', 'Tanh', ['sum:z:0']), ('new', 'Identity', ['th:y:0']), ('new_h', 'Identity', ['new:output:0'])],
          [np.stack(all_h).astype(np.float32), now_h.astype(np.float32)])

with open(sys.argv[1], 'w') as file:
    file.write('# Written by make_numpy_cases.py with NumPy and SciPy.\n')
    file.write('\n'.join(out) + '\n')
