/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_DECODE_INTERNAL_H
#define LT_ATTACH_DECODE_INTERNAL_H

/* Shared by decode.c (numbers, texts, results) and decode_sockets.c (addresses, lists of fds) only. */
#include "attach/decode.h"

bool decode_is_number(const struct field_value *v);

/* Reads a number by name from the event being decoded. false: there is none. */
bool decode_number(const struct decode *d, const char *name, uint64_t *value);

/* Appends an fd and its name. */
void decode_fd(struct decode *d, int64_t fd);

/* Appends the address in the fields family, port, v4addr, v6addr. false: there is none, nothing was appended. */
bool decode_sockaddr(struct decode *d);

void decode_protocol(struct decode *d, const struct field_value *v);
void decode_sockopt(struct decode *d, const struct field_value *v);

/* Appends a list of fds; v: the container. */
void decode_fds(struct decode *d, const struct field_value *v);
void decode_fdset(struct decode *d, const struct field_value *v);
void decode_epoll(struct decode *d, const struct field_value *v);
void decode_pollfds(struct decode *d, const struct field_value *v, const char *events_name);

void decode_poll_result(struct decode *d, int64_t ret);
void decode_select_result(struct decode *d, int64_t ret);

#endif
