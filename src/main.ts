#!/usr/bin/env node
process.stderr.write('run-claude\n');
