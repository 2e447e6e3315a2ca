/* A server that writes the wall-clock time into each event right before it sends it, and the time
   right after the send before: over loopback an event arrives between the two.
   stamp EVENTS GAP_NS GROUP: listens on a free port of 127.0.0.1 and prints it and its niceness;
   every connection gets the same stream of chat chunks, GROUP of them, each in a chunk and a send
   of its own, every GAP_NS. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int events, group;
static long long gap_ns;

static long long now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void wait_until(long long at) {
    struct timespec t = {at / 1000000000LL, at % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) continue;
}

static int send_event(int s, long long *sent) {
    char body[512], chunk[600];
    int n = snprintf(body, sizeof body,
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token\"},\"finish_reason\":null}],"
        "\"last_sent\":\"%019lld\",\"ts\":\"%019lld\"}\n\n", *sent, now_ns(CLOCK_REALTIME));
    int m = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", n, body);
    int whole = send(s, chunk, m, MSG_NOSIGNAL) == m;
    *sent = now_ns(CLOCK_REALTIME);
    return whole;
}

static void *serve(void *argument) {
    int s = (int)(long)argument, on = 1, got = 0;
    char request[65536];
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (got < (int)sizeof request - 1) {
        int n = recv(s, request + got, sizeof request - 1 - got, 0);
        if (n <= 0) goto out;
        got += n;
        request[got] = 0;
        char *end = strstr(request, "\r\n\r\n");
        if (!end) continue;
        char *length = strcasestr(request, "content-length:");
        if (got - (end + 4 - request) >= (length ? atoi(length + 15) : 0)) break;
    }
    const char *head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n";
    send(s, head, strlen(head), MSG_NOSIGNAL);
    long long at = now_ns(CLOCK_MONOTONIC) + 50000000LL, sent = 0;
    for (int i = 0; i < events; i++) {
        if (i % group == 0) wait_until(at + i / group * gap_ns);
        if (!send_event(s, &sent)) goto out;
    }
    const char *tail = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
    send(s, tail, strlen(tail), MSG_NOSIGNAL);
    shutdown(s, SHUT_WR);
    while (recv(s, request, sizeof request, 0) > 0) continue;
out:
    close(s);
    return NULL;
}

int main(int count, char **words) {
    if (count != 4 || (group = atoi(words[3])) < 1) return 2;
    events = atoi(words[1]);
    gap_ns = atoll(words[2]);
    signal(SIGPIPE, SIG_IGN);
    setpriority(PRIO_PROCESS, 0, -20); /* without the right to, its niceness stays: it is told */
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 64)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d %d\n", ntohs(address.sin_port), getpriority(PRIO_PROCESS, 0));
    fflush(stdout);
    for (;;) {
        int s = accept(listener, NULL, NULL);
        pthread_t thread;
        if (s >= 0 && !pthread_create(&thread, NULL, serve, (void *)(long)s)) pthread_detach(thread);
    }
}
