# Fourier transforms and complex numbers. Read by cases.py. A complex result is compared as its real pairs.
pairs = torch.view_as_real
for n in (8, 7):
    signal = x(3, n)
    for norm in (None, "ortho", "forward"):
        label = f"{n}_{norm}"
        case(f"rfft_{label}", lambda a, m=norm: pairs(torch.fft.rfft(a, norm=m)), signal)
        case(f"fft_{label}", lambda a, m=norm: pairs(torch.fft.fft(a, norm=m)), signal)
        case(f"ifft_{label}", lambda a, m=norm: pairs(torch.fft.ifft(torch.fft.fft(a), norm=m)), signal)
        case(f"irfft_{label}", lambda a, m=norm, n=n: torch.fft.irfft(torch.fft.rfft(a), n=n, norm=m), signal)
case("rfft_longer", lambda a: pairs(torch.fft.rfft(a, n=12)), x(3, 8))
case("rfft_shorter", lambda a: pairs(torch.fft.rfft(a, n=5)), x(3, 8))
case("rfft_axis", lambda a: pairs(torch.fft.rfft(a, dim=1)), x(2, 6, 3))
case("irfft_default", lambda a: torch.fft.irfft(torch.fft.rfft(a)), x(3, 8))
image = x(2, 3, 6, 8)
case("fft2", lambda a: pairs(torch.fft.fft2(a)), image)
case("ifft2", lambda a: torch.fft.ifft2(torch.fft.fft2(a)).real, image)
case("rfft2", lambda a: pairs(torch.fft.rfft2(a)), image, dynamic=True)
case("irfft2", lambda a: torch.fft.irfft2(torch.fft.rfft2(a), s=(6, 8)), image)
case("rfftn", lambda a: pairs(torch.fft.rfftn(a, dim=(1, 2), norm="ortho")), image)
case("fftn", lambda a: torch.fft.fftn(a).abs(), x(2, 3, 4))
case("fftshift", lambda a: torch.fft.fftshift(a, dim=(1, 2)), x(2, 5, 4))
case("ifftshift", lambda a: torch.fft.ifftshift(a), x(3, 5))
case("fftshift_complex", lambda a: torch.fft.fftshift(torch.fft.fft(a), dim=-1).abs(), x(2, 8))
case("fftfreq", lambda a: a + torch.fft.fftfreq(6), x(2, 6))
case("complex_parts", lambda a, b: (torch.complex(a, b).real, torch.complex(a, b).imag, torch.complex(a, b).abs(), torch.complex(a, b).angle()), x(3, 4), x(3, 4) + 0.3)
case("complex_arithmetic", lambda a, b: pairs(torch.complex(a, b) * torch.complex(b, a) / torch.complex(a, b + 3) - torch.complex(a, a)), x(3, 4), x(3, 4))
case("complex_by_real", lambda a, b: pairs(torch.complex(a, b) * b / 2.0), x(3, 4), x(3, 4))
case("complex_conj", lambda a, b: pairs(torch.conj(torch.complex(a, b)).resolve_conj() * torch.complex(a, b)), x(3, 4), x(3, 4))
case("complex_exp", lambda a, b: pairs(torch.exp(torch.complex(a, b))), x(3, 4), x(3, 4))
case("complex_matmul", lambda a, b: pairs(torch.matmul(torch.complex(a, b), torch.complex(b, a).transpose(0, 1))), x(3, 4), x(3, 4))
case("complex_moves", lambda a, b: pairs(torch.complex(a, b).permute(2, 0, 1).reshape(4, 6)[1:3].unsqueeze(0)), x(2, 3, 4), x(2, 3, 4))
case("complex_cat", lambda a, b: pairs(torch.cat([torch.complex(a, b), torch.complex(b, a)], -1)), x(2, 3), x(2, 3))
case("complex_sum", lambda a, b: pairs(torch.complex(a, b).sum(-1)), x(2, 3), x(2, 3))
case("complex_polar", lambda a, b: pairs(torch.polar(a.abs(), b)), x(2, 3), x(2, 3))
case("complex_einsum", lambda a, b: pairs(torch.einsum("bi,io->bo", torch.complex(a, a), torch.complex(b, -b))), x(2, 3), x(3, 4))
case("stft", lambda a: torch.view_as_real(torch.stft(a, 16, hop_length=4, window=torch.hann_window(16), return_complex=True)), x(2, 64))
case("stft_short_window", lambda a: torch.stft(a, 16, hop_length=5, win_length=12, window=torch.hamming_window(12), normalized=True, return_complex=True).abs(), x(2, 64))
case("stft_plain", lambda a: torch.stft(a, 8, center=False, onesided=False, return_complex=False), x(40))
case("istft", lambda a: torch.istft(torch.stft(a, 16, 4, window=torch.hann_window(16), return_complex=True), 16, 4, window=torch.hann_window(16)), x(2, 64))
case("istft_length", lambda a: torch.istft(torch.stft(a, 16, 4, window=torch.hann_window(16), return_complex=True), 16, 4, window=torch.hann_window(16), length=60), x(2, 64))


class Spectral(nn.Module):
    """A layer of a Fourier neural operator: complex weights, a slice written in place."""
    def __init__(self, modes=3):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.rand(2, 4, modes, dtype=torch.cfloat))

    def forward(self, a):
        spectrum = torch.fft.rfft(a)
        out = torch.zeros(a.shape[0], 4, a.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, : self.modes] = torch.einsum("bix,iox->box", spectrum[:, :, : self.modes], self.weight)
        return torch.fft.irfft(out, n=a.size(-1))


class Rotary(nn.Module):
    """Queries turned by their places, as complex numbers."""
    def __init__(self):
        super().__init__()
        self.register_buffer("turns", torch.polar(torch.ones(6, 4), torch.outer(torch.arange(6.0), 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8))))

    def forward(self, q):
        z = torch.view_as_complex(q.float().reshape(q.shape[0], q.shape[1], q.shape[2], -1, 2))
        return torch.view_as_real(z * self.turns.unsqueeze(1)).flatten(3)


case("network_spectral", Spectral(), x(2, 2, 16))
case("network_rotary", Rotary(), x(2, 6, 3, 8))
