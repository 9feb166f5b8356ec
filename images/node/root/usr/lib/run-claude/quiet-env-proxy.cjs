'use strict';
// Every Node process of the agent loads this first. Node warns at each start that reading HTTP_PROXY is experimental;
// the warning breaks programs and tests that compare their stderr.
const listeners = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.code === 'UNDICI-EHPA') return;
  for (const listener of listeners) listener.call(process, warning);
});
