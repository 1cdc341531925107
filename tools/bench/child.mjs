// One stage of one row for one contender. Prints the result as one JSON line, last.
const { file, stage, contender, folder, options } = JSON.parse(process.argv[2]);
const row = await import(`./rows/${file}.mjs`);
const result = await row[stage](contender, folder, options);
process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0));
