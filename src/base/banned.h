/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_BANNED_H
#define LT_BASE_BANNED_H

/*
 * Functions that must not be used, turned into compile errors: those that write without a bound, those that return
 * static storage, and those that hash texts from traces without a seed (base/keyhash.h). The Makefile includes this
 * file before every source. The headers that declare them are included first, so that the declarations still compile.
 */
#include <glib.h>
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
#undef g_string_chunk_insert_const
#define g_string_chunk_insert_const(...) LT_BANNED(g_string_chunk_insert_const)

#endif
