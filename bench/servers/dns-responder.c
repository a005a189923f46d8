/*
 * A DNS server for benches, as dns-server.ts, for which it stands in where a C compiler is present: the same zone, words and
 * delay at a tenth of the processor time, so that the measured time is that of the client.
 *
 * usage: dns-responder [--delay-ms N]   (20 unless it is set)
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { HEADER = 12, NAME_MAX_BYTES = 255, PACKET_MAX = 700, WAITING_MAX = 65536, TTL_S = 300, SOCKET_BYTES = 4194304 };
enum { TYPE_A = 1, TYPE_SOA = 6, TYPE_MX = 15, TYPE_TXT = 16, TYPE_AAAA = 28, TYPE_OPT = 41 };

typedef struct {
  int64_t due_us;
  struct sockaddr_in to;
  uint16_t length;
  uint8_t bytes[PACKET_MAX];
} Answer;

/* Answers wait in the order of their questions, since all take the same time. A question beyond the ring is not answered. */
static Answer waiting[WAITING_MAX];
static size_t first, count_waiting;
static unsigned long count;
static bool is_mute;

static int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static uint8_t *put16(uint8_t *at, unsigned value) {
  *at++ = value >> 8;
  *at++ = value;
  return at;
}

static uint8_t *put32(uint8_t *at, uint32_t value) { return put16(put16(at, value >> 16), value & 0xffff); }

/* A record whose name is at `name_at` in the packet, up to its content. */
static uint8_t *put_record(uint8_t *at, unsigned name_at, unsigned type, uint32_t ttl, unsigned length) {
  return put16(put32(put16(put16(put16(at, 0xc000 | name_at), type), 1), ttl), length);
}

static uint8_t *put_text(uint8_t *at, uint32_t ttl, const char *text) {
  size_t length = strlen(text);
  at = put_record(at, HEADER, TYPE_TXT, ttl, length + 1);
  *at++ = length;
  memcpy(at, text, length);
  return at + length;
}

static bool label_is(const uint8_t *label, const char *word) {
  return *label == strlen(word) && strncasecmp((const char *)label + 1, word, *label) == 0;
}

static bool label_begins(const uint8_t *label, const char *word) {
  return *label >= strlen(word) && strncasecmp((const char *)label + 1, word, strlen(word)) == 0;
}

/* What is said to a question that steers; null: it is any other. */
static const char *steered(const uint8_t *name, unsigned type) {
  static char text[24];
  const uint8_t *second = name + 1 + *name;
  if (type != TYPE_TXT || *name == 0 || !label_is(second, "bench") || second[1 + *second] != 0) return NULL;
  if (label_is(name, "mute")) is_mute = true;
  else if (label_is(name, "speak")) is_mute = false;
  else if (!label_is(name, "count")) return NULL;
  snprintf(text, sizeof text, "%lu", count);
  return text;
}

static bool is_denied(const uint8_t *name) {
  for (const uint8_t *label = name; *label != 0; label += 1 + *label) {
    if (label[1] == '_' && !(label == name && label_is(label, "_dmarc"))) return true;
    if (label_begins(label, "nx") && *label > 2 && isdigit(label[3])) return true;
  }
  return false;
}

/* Writes the answer and returns its length; 0: the packet is no query of one question. */
static size_t answer_to(const uint8_t *query, size_t length, uint8_t *out, const char **word) {
  if (length < HEADER + 5 || (query[2] & 0x80) || query[4] != 0 || query[5] != 1) return 0;
  size_t at = HEADER;
  while (at < length && query[at] != 0) {
    if (query[at] > 63) return 0;
    at += 1 + query[at];
  }
  if (at + 5 > length || at - HEADER >= NAME_MAX_BYTES) return 0;
  const size_t end = at + 5;
  const unsigned type = query[at + 1] << 8 | query[at + 2];
  const uint8_t *name = query + HEADER;
  const bool has_opt = query[10] != 0 || query[11] != 0;
  memcpy(out, query, end);
  out[2] = 0x80 | (query[2] & 1);
  out[3] = 0x80;
  memset(out + 6, 0, 6);
  uint8_t *next = out + end;
  *word = steered(name, type);
  const bool is_dmarc = label_is(name, "_dmarc");
  unsigned zone_at = HEADER;
  if (*word != NULL) next = put_text(next, 0, *word);
  else if (is_denied(name)) {
    out[3] |= 3;
    zone_at = HEADER + 1 + *name;
  } else if (type == TYPE_TXT) next = put_text(next, TTL_S, is_dmarc ? "v=DMARC1; p=reject" : "v=spf1 mx -all");
  else if (is_dmarc) {
  } else if (type == TYPE_A) next = put32(put_record(next, HEADER, type, TTL_S, 4), 0xc6336301);
  else if (type == TYPE_AAAA) {
    next = put32(put_record(next, HEADER, type, TTL_S, 16), 0x2a0104f8);
    next = put32(put32(put32(next, 0), 0), 1);
  } else if (type == TYPE_MX && label_begins(name, "suite")) {
    static const char host[] = "\5aspmx\1l\6google\3com";
    next = put16(put_record(next, HEADER, type, TTL_S, 2 + sizeof host), 1);
    memcpy(next, host, sizeof host);
    next += sizeof host;
  } else if (type == TYPE_MX) {
    next = put16(put_record(next, HEADER, type, TTL_S, 7), 10);
    memcpy(next, "\2mx\xc0\x0c", 5);
    next += 5;
  }
  if (next > out + end) out[7] = 1;
  else {
    out[9] = 1;
    next = put_record(next, zone_at, TYPE_SOA, TTL_S, 22);
    *next++ = 0;
    *next++ = 0;
    next = put32(put32(put32(put32(put32(next, 1), 3600), 600), 86400), TTL_S);
  }
  if (has_opt) {
    out[11] = 1;
    *next++ = 0;
    next = put16(put32(put16(put16(next, TYPE_OPT), 1232), 0), 0);
  }
  return next - out;
}

static void send_answer(int fd, const Answer *answer) {
  // A client that has closed its socket before its answer is no fault.
  sendto(fd, answer->bytes, answer->length, 0, (const struct sockaddr *)&answer->to, sizeof answer->to);
}

static void receive(int fd, int64_t delay_us) {
  for (;;) {
    uint8_t query[512];
    Answer *answer = &waiting[(first + count_waiting) % WAITING_MAX];
    socklen_t size = sizeof answer->to;
    const ssize_t length = recvfrom(fd, query, sizeof query, MSG_DONTWAIT, (struct sockaddr *)&answer->to, &size);
    if (length < 0) return;
    if (count_waiting == WAITING_MAX) continue;
    const char *word = NULL;
    answer->length = answer_to(query, length, answer->bytes, &word);
    if (answer->length == 0) continue;
    if (word != NULL) {
      send_answer(fd, answer);
      continue;
    }
    count++;
    if (is_mute) continue;
    if (delay_us == 0) send_answer(fd, answer);
    else {
      answer->due_us = now_us() + delay_us;
      count_waiting++;
    }
  }
}

int main(int argc, char **argv) {
  const double delay_ms = argc == 3 && strcmp(argv[1], "--delay-ms") == 0 ? atof(argv[2]) : 20;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const int bytes = SOCKET_BYTES;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof own;
  if (fd < 0 || bind(fd, (struct sockaddr *)&own, size) != 0 || getsockname(fd, (struct sockaddr *)&own, &size) != 0) {
    perror("dns-responder");
    return 1;
  }
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
  printf("the DNS server listens on dns://127.0.0.1:%u\n", ntohs(own.sin_port));
  fflush(stdout);
  for (;;) {
    struct pollfd socket_ready = {.fd = fd, .events = POLLIN};
    int64_t wait_us = -1;
    if (count_waiting > 0) {
      wait_us = waiting[first].due_us - now_us();
      // Answers go out at most half a millisecond late, so that each wake sends many.
      wait_us = wait_us < 500 ? 500 : wait_us;
    }
    poll(&socket_ready, 1, wait_us < 0 ? -1 : (int)((wait_us + 999) / 1000));
    receive(fd, (int64_t)(delay_ms * 1000));
    const int64_t now = now_us();
    while (count_waiting > 0 && waiting[first].due_us <= now) {
      send_answer(fd, &waiting[first]);
      first = (first + 1) % WAITING_MAX;
      count_waiting--;
    }
  }
}
