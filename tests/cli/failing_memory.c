// Memory that runs out: the call of malloc and its like that INGOT_FAIL_AT counts gives nothing, and with
// INGOT_FAIL_ON=1 all after it. Without INGOT_FAIL_AT the number of calls is written to the file INGOT_COUNT_TO.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_long calls;
static long fail_at;
static int goes_on;

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("INGOT_FAIL_AT"), *on = getenv("INGOT_FAIL_ON");
  fail_at = at ? atol(at) : 0;
  goes_on = on && *on == '1';
}

__attribute__((destructor)) static void end(void) {
  const char *to = getenv("INGOT_COUNT_TO");
  if (!to) return;
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld\n", (long)calls);
  const int file = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  (void)!write(file, text, (size_t)size);
  close(file);
}

static int fails(void) {
  const long call = atomic_fetch_add(&calls, 1) + 1;
  if (!fail_at || (goes_on ? call < fail_at : call != fail_at)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }
void *aligned_alloc(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }
int posix_memalign(void **out, size_t to, size_t size) {
  void *made = fails() ? NULL : __libc_memalign(to, size);
  if (!made) return ENOMEM;
  *out = made;
  return 0;
}
