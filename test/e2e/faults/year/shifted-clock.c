/*
 * All clocks of a process, ahead by the seconds that stand in a file. Preloaded (LD_PRELOAD) into a server and all that it starts, it moves
 * the time of the runtime, of its timers and of SQLite forward together: as if the time had passed.
 *
 *   CLOCK_SHIFT_FILE   two 64-bit numbers of seconds: by how much all clocks are ahead, and by how much more the wall clock alone is
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none[2];
static volatile const int64_t *shift = none;
static int (*real_gettime)(clockid_t, struct timespec *);
static int (*real_sleep)(clockid_t, int, const struct timespec *, struct timespec *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

/* Before any other library's own start, which may look at the time already. */
__attribute__((constructor(101))) static void start(void) {
  real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_sleep = dlsym(RTLD_NEXT, "clock_nanosleep");
  real_wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (real_wait == NULL) real_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  const char *path = getenv("CLOCK_SHIFT_FILE");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) shift = mapped;
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

static int is_shifted(clockid_t clock) {
  return is_wall(clock) || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW ||
         clock == CLOCK_BOOTTIME;
}

static int64_t ahead(clockid_t clock) { return is_shifted(clock) ? shift[0] + (is_wall(clock) ? shift[1] : 0) : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (real_gettime == NULL) start();
  int result = real_gettime(clock, now);
  if (result == 0) now->tv_sec += ahead(clock);
  return result;
}

time_t time(time_t *stored) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (stored != NULL) *stored = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict stored, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *stored = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

/* The kernel waits by the real time: what is waited for was computed by the shifted one. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left) {
  if ((flags & TIMER_ABSTIME) == 0) return real_sleep(clock, flags, until, left);
  struct timespec real = {.tv_sec = until->tv_sec - ahead(clock), .tv_nsec = until->tv_nsec};
  return real_sleep(clock, flags, &real, left);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec real = {.tv_sec = until->tv_sec - shift[0], .tv_nsec = until->tv_nsec};
  return real_wait(condition, mutex, &real);
}
