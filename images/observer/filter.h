/* The filter that hands calls of the observed tree to the observer. */
#ifndef FILTER_H
#define FILTER_H

/*
 * Puts this process, and every process that it will start, under the filter. Returns the descriptor at which the calls
 * arrive (closed at the next exec), or -1 with errno where the kernel has none.
 */
int install_filter(void);
#endif
