// Measures every row: each contender in a process of its own, contenders in turn inside a repeat and the order rotated,
// so that the drift of a noisy machine meets all alike. Ratios are taken of the medians of one run.
//   node tools/bench/run.mjs [--rows 1,3] [--repeats 5] [--json FILE] [--quick]
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './lib/measure.mjs';
import { rows } from './rows.mjs';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string' },
    repeats: { type: 'string', default: '5' },
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const repeats = options.quick ? 1 : Number(options.repeats);
const child = fileURLToPath(new URL('child.mjs', import.meta.url));
const wanted = options.rows?.split(',');
const chosen = rows.filter(
  ({ row }) => wanted === undefined || wanted.includes(row.split(' ')[0]) || wanted.includes(row),
);
const root = mkdtempSync(join(tmpdir(), 'perdure-bench-'));

/** Runs one stage of a row in a process of its own. `null` when it died as it should. */
function run(row, stage, contender, folder) {
  const order = JSON.stringify({ file: row.file, stage, contender, folder, options: row.options });
  return new Promise((resolve, reject) => {
    const started = spawn(process.execPath, ['--expose-gc', child, order], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    started.stdout.on('data', (data) => (out += data));
    started.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out.trim().split('\n').at(-1)));
      else if (signal === 'SIGKILL' && row.diesInPrepare && stage === 'prepare') resolve(null);
      else reject(new Error(`${row.file} ${stage} of ${contender} ended with ${code ?? signal}`));
    });
  });
}

/** Rows of one file and the same contenders share their runs. */
const measured = new Map();
async function measure(row) {
  const key = `${row.file} ${row.contenders.join(' ')}`;
  const known = measured.get(key);
  if (known !== undefined) return known;
  const results = Object.fromEntries(row.contenders.map((contender) => [contender, []]));
  const folders = Object.fromEntries(row.contenders.map((contender) => [contender, mkdtempSync(join(root, 'store-'))]));
  const isPrepared = ['cold-open', 'crash'].includes(row.file);
  for (let repeat = 0; repeat < (row.diesInPrepare ? 1 : repeats); repeat++) {
    for (let turn = 0; turn < row.contenders.length; turn++) {
      const contender = row.contenders[(turn + repeat) % row.contenders.length];
      if (isPrepared && repeat === 0) await run(row, 'prepare', contender, folders[contender]);
      const folder = mkdtempSync(join(root, 'store-'));
      // What one repeat leaves behind, a state snapshot for one, must not help the next.
      if (isPrepared) cpSync(folders[contender], folder, { recursive: true });
      results[contender].push(await run(row, 'measure', contender, folder));
      rmSync(folder, { recursive: true, force: true });
    }
  }
  measured.set(key, results);
  return results;
}

function medians(results) {
  return Object.fromEntries(
    Object.entries(results).map(([contender, list]) => [
      contender,
      Object.fromEntries(
        Object.entries(list[0]).map(([name, value]) => [
          name,
          typeof value === 'number' ? median(list.map((result) => result[name])) : value,
        ]),
      ),
    ]),
  );
}

const report = [];
try {
  for (const row of chosen) {
    const results = await measure(row);
    const middle = medians(results);
    const value = row.value(middle);
    const line = {
      row: row.row,
      what: row.what,
      value,
      budget: row.budget,
      met: row.meets(value, middle),
      medians: middle,
      results,
    };
    report.push(line);
    const shown = value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
    console.log(
      `${line.met ? 'met   ' : 'MISSED'} ${row.row.padEnd(11)} ${shown.padStart(10)}   ${row.budget.padEnd(24)} ` +
        row.what,
    );
    for (const [contender, numbers] of Object.entries(middle)) {
      const text = Object.entries(numbers).map(
        ([name, number]) => `${name} ${typeof number === 'number' ? Number(number.toFixed(3)) : number}`,
      );
      console.log(`                                 ${contender}: ${text.join(', ')}`);
    }
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg() };
  writeFileSync(
    options.json,
    `${JSON.stringify({ at: new Date().toISOString(), machine, repeats, rows: report }, undefined, 1)}\n`,
  );
}
if (report.some(({ met }) => !met)) process.exitCode = 1;
