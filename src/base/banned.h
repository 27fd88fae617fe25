/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_BANNED_H
#define LT_BASE_BANNED_H

/*
 * Functions nobody may use, as compile errors: those that write without a
 * bound, and those that return static storage. The Makefile includes this file
 * in front of every source. The headers come first because they declare them.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LT_BANNED(function) use_of_banned_function_##function

#undef strcpy
#define strcpy(...) LT_BANNED(strcpy)
#undef strcat
#define strcat(...) LT_BANNED(strcat)
#undef strtok
#define strtok(...) LT_BANNED(strtok)
#undef sprintf
#define sprintf(...) LT_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) LT_BANNED(vsprintf)
#undef gets
#define gets(...) LT_BANNED(gets)
#undef localtime
#define localtime(...) LT_BANNED(localtime)
#undef gmtime
#define gmtime(...) LT_BANNED(gmtime)
#undef ctime
#define ctime(...) LT_BANNED(ctime)
#undef asctime
#define asctime(...) LT_BANNED(asctime)

#endif
