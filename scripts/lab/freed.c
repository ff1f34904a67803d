/* Closes memory when it is freed, see freed.py, which preloads this into Blender.

   Each allocation of SMALLEST to LARGEST bytes gets pages of its own, out of 16 TB of addresses that are never given out
   twice. When it is freed its pages are closed: whoever reads or writes there afterwards ends with a segmentation fault.
   The block ends where its pages end; before it are its size and the number of its pages. All other allocations go to
   the allocator that would have had them. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define PAGES ((size_t)1 << 32)
#define SMALLEST 200
#define LARGEST 65000

static char *arena;
static size_t next_page, not_closed;

/* The other allocator ------------------------------------------------------------------------------------------- */

static void *(*other_malloc)(size_t);
static void *(*other_calloc)(size_t, size_t);
static void *(*other_realloc)(void *, size_t);
static int (*other_aligned)(void **, size_t, size_t);
static void (*other_free)(void *);
static size_t (*other_size)(void *);

/* dlsym allocates before the other allocator is known; these few bytes are never freed. */
static _Alignas(16) char first_bytes[1 << 16];
static size_t first_used;

static size_t rounded(size_t size) { return (size + 15) / 16 * 16; }

static void *first(size_t size) {
  void *made = first_bytes + first_used;
  first_used += rounded(size);
  return first_used <= sizeof first_bytes ? made : NULL;
}

static int is_first(const void *block) {
  return (const char *)block >= first_bytes && (const char *)block < first_bytes + sizeof first_bytes;
}

static int found(void) {
  static int searching;
  if (!other_malloc && !searching) {
    searching = 1;
    other_calloc = dlsym(RTLD_NEXT, "calloc");
    other_realloc = dlsym(RTLD_NEXT, "realloc");
    other_aligned = dlsym(RTLD_NEXT, "posix_memalign");
    other_free = dlsym(RTLD_NEXT, "free");
    other_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    other_malloc = dlsym(RTLD_NEXT, "malloc");
  }
  return other_malloc != NULL;
}

/* Pages --------------------------------------------------------------------------------------------------------- */

static int is_paged(const void *block) {
  return arena && (const char *)block >= arena && (const char *)block < arena + PAGES * PAGE;
}

/* New pages are empty, so calloc has nothing to do. One page stays between blocks, and is closed with the first. */
static void *paged(size_t size) {
  if (!arena || size < SMALLEST || size > LARGEST) return NULL;
  size_t pages = (rounded(size) + 2 * sizeof(size_t) + PAGE - 1) / PAGE;
  size_t page = __atomic_fetch_add(&next_page, pages + 1, __ATOMIC_RELAXED);
  if (page + pages >= PAGES) return NULL;
  size_t *block = (size_t *)(arena + (page + pages) * PAGE - rounded(size));
  block[-2] = size;
  block[-1] = pages;
  return block;
}

static void close_pages(void *block) {
  size_t size = ((size_t *)block)[-2], length = (((size_t *)block)[-1] + 1) * PAGE;
  char *start = (char *)block + rounded(size) + PAGE - length;
  int before = errno, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(start, length, PROT_NONE, flags, -1, 0) == MAP_FAILED) { /* more areas than vm.max_map_count */
    __atomic_fetch_add(&not_closed, 1, __ATOMIC_RELAXED);
    madvise(start, length, MADV_DONTNEED);
  }
  errno = before;
}

/* The functions that programs call ------------------------------------------------------------------------------ */

void *malloc(size_t size) {
  void *made = paged(size);
  return made ? made : found() ? other_malloc(size) : first(size);
}

void *calloc(size_t count, size_t each) {
  size_t size;
  void *made = __builtin_mul_overflow(count, each, &size) ? NULL : paged(size);
  return made ? made : found() ? other_calloc(count, each) : first(size);
}

void free(void *block) {
  if (!block || is_first(block)) return;
  if (is_paged(block)) close_pages(block);
  else if (found()) other_free(block);
}

void *realloc(void *block, size_t size) {
  if (!block) return malloc(size);
  if (!is_paged(block) && !is_first(block)) return found() ? other_realloc(block, size) : NULL;
  size_t old = is_paged(block) ? ((size_t *)block)[-2] : (size_t)(first_bytes + sizeof first_bytes - (char *)block);
  void *made = malloc(size);
  if (!made) return NULL;
  memcpy(made, block, old < size ? old : size);
  free(block);
  return made;
}

int posix_memalign(void **made, size_t alignment, size_t size) {
  if (alignment <= 16 && (*made = paged(size))) return 0;
  return found() ? other_aligned(made, alignment, size) : ENOMEM;
}

void *memalign(size_t alignment, size_t size) {
  void *made = NULL;
  errno = posix_memalign(&made, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
  return made;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

size_t malloc_usable_size(void *block) {
  if (!block || is_first(block)) return 0;
  return is_paged(block) ? ((size_t *)block)[-2] : found() ? other_size(block) : 0;
}

/* What is said -------------------------------------------------------------------------------------------------- */

static void say(const char *text) {
  const char *path = getenv("MOTIONBRIDGE_FREED");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  if (file >= 0) {
    if (write(file, text, strlen(text)) < 0) perror(path);
    close(file);
  }
}

static struct sigaction theirs;
static int (*system_sigaction)(int, const struct sigaction *, struct sigaction *);

static void on_fault(int number, siginfo_t *about, void *context) {
  if (is_paged(about->si_addr)) say("freed memory was used\n");
  if (theirs.sa_flags & SA_SIGINFO) theirs.sa_sigaction(number, about, context);
  else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) theirs.sa_handler(number);
  _exit(128 + number);
}

/* Handlers that are installed later, such as those of Blender and faulthandler, are called by ours. */
int sigaction(int number, const struct sigaction *now, struct sigaction *before) {
  if (!system_sigaction) system_sigaction = dlsym(RTLD_NEXT, "sigaction");
  if (number != SIGSEGV || !arena) return system_sigaction(number, now, before);
  if (before) *before = theirs;
  if (now) theirs = *now;
  return 0;
}

void (*signal(int number, void (*handler)(int)))(int) {
  struct sigaction now = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
  return sigaction(number, &now, &before) ? SIG_ERR : before.sa_handler;
}

__attribute__((constructor)) static void begin(void) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char *reserved = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (reserved == MAP_FAILED) return say("there was no room for the addresses\n");
  madvise(reserved, PAGES * PAGE, MADV_NOHUGEPAGE);
  struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &ours, NULL);
  arena = reserved;
}

__attribute__((destructor)) static void end(void) {
  char text[99];
  snprintf(text, sizeof text, "%zu freed blocks could not be closed\n", not_closed);
  if (not_closed) say(text);
}
