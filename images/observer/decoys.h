/* Files that look like secrets of the user, in an empty home. No command has a reason to read them that it had not before. */
#ifndef DECOYS_H
#define DECOYS_H
void lay_decoys(void);
#endif
