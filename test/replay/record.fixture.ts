import { record } from './session.fixture.js';

/** Prints the stream of a recorded session: the exact texts of every fact. */
const facts = await record();
for (const fact of facts) process.stdout.write(`${JSON.stringify(fact)}\n`);
