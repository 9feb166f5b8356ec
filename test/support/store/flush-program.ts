import { openContentStore } from '../../../src/core/store/content.ts';

// Stores 400 contents and forces them to the disk. argv: the directory of the store.
const store = openContentStore(process.argv[2] ?? '');
for (let n = 0; n < 400; n++) await store.put([Buffer.from(`content ${n}`)]);
await store.flush();
process.stdout.write('flushed');
