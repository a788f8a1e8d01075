list(APPEND ops_sources
  signal/dft.cpp
  signal/fourier.cpp
  signal/stft.cpp)
