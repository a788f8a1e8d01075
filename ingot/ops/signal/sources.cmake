list(APPEND ops_sources
  signal/dft.cpp
  signal/fft.cpp
  signal/fourier.cpp
  signal/stft.cpp)
