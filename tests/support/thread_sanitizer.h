/* SPDX-License-Identifier: Apache-2.0 */
/* thread_sanitizer.h: what ThreadSanitizer takes for a race and is none. Included once, by what every test links.
 *
 * libcurl closes a socket whose connect it gives up before it says that the socket is to be watched no more. Meanwhile the
 * server of the same test, in another thread, may have been given its number. The loop then takes a number out of its epoll
 * set that is not in it: the kernel refuses that (ENOENT), and nothing else happens. */
#ifndef HERD_TESTS_SUPPORT_THREAD_SANITIZER_H
#define HERD_TESTS_SUPPORT_THREAD_SANITIZER_H

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:epoll_set\n";
}
#endif

#endif
