import { writeFileSync } from 'node:fs';
import { refresh } from './refresh-scene.ts';

// Brings a base up to date in its own process, so that each of its calls can be photographed.
// argv: the scene's directory, and as JSON what is not as in every scene. SHIM_START names the file whose making begins the counting.
const [dir = '', options = '{}'] = process.argv.slice(2);
writeFileSync(process.env['SHIM_START'] ?? '', '');
await refresh(dir, 'killed', JSON.parse(options));
