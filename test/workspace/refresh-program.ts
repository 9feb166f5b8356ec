import { writeFileSync } from 'node:fs';
import { refresh } from './refresh-scene.ts';

// Brings a base up to date in a process of its own, so that each of its calls can be photographed.
// argv: the scene's directory. SHIM_START names the file whose making begins the counting.
writeFileSync(process.env['SHIM_START'] ?? '', '');
await refresh(process.argv[2] ?? '', 'killed');
