#!/usr/bin/env node
// Starts the program of the package for this processor.
'use strict';
const { spawn } = require('node:child_process');

const name = `bakeoff-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/bakeoff`);
} catch {
  console.error(`error: there is no bakeoff for ${process.platform} on ${process.arch}, or npm left out`
    + ` the package ${name}; install without --omit=optional`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends its signals to both; others are passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => { if (signal === 'SIGTERM') child.kill(signal); });
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
