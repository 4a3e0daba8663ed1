/*
 * Preloaded into a server, steps its wall clock by what stands in the file of WALL_CLOCK_FILE: microseconds, 8 bytes.
 *
 * It takes the place of the two calls by which a server asks for the date. clock_gettime stays what it is: the monotonic
 * clock must not step, and an allocator that asks for it while the program is loaded must not come through here. Nothing
 * is included, so that a compiler without the C library's headers will do.
 */
struct timespec { long tv_sec, tv_nsec; };
struct timeval { long tv_sec, tv_usec; };

extern int clock_gettime(int clock, struct timespec *now);
extern char *getenv(const char *name);
extern int open(const char *path, int flags, ...);
extern long pread(int file, void *into, unsigned long bytes, long from);

enum { REALTIME = 0, READ_ONLY_AND_CLOSED_ON_EXEC = 02000000 };

static long long ahead_us(void) {
  static int file = -1;
  long long ahead = 0;
  const char *path = getenv("WALL_CLOCK_FILE");
  if (file < 0 && path) file = open(path, READ_ONLY_AND_CLOSED_ON_EXEC);
  return pread(file, &ahead, sizeof ahead, 0) == sizeof ahead ? ahead : 0;
}

static long long now_us(void) {
  struct timespec now;
  clock_gettime(REALTIME, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000 + ahead_us();
}

int gettimeofday(struct timeval *now, void *zone) {
  long long us = now_us();
  (void)zone;
  now->tv_sec = us / 1000000;
  now->tv_usec = us % 1000000;
  return 0;
}

long time(long *now) {
  long seconds = now_us() / 1000000;
  if (now) *now = seconds;
  return seconds;
}
