// Started by run-source.mjs, whose own argument stands before those of the program.
process.argv.splice(1, 1);
await import('../../apps/cli/src/main.js');
