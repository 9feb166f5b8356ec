'use strict';
// Every Node process of the agent's loads this first. Node says at each start that looking at HTTP_PROXY is
// experimental; that line breaks programs and tests that compare what they print to stderr.
const listeners = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.code === 'UNDICI-EHPA') return;
  for (const listener of listeners) listener.call(process, warning);
});
