import type { ChildReport } from '@perdure/plugin-api';

/** What came of a call, with the reports in the order of the tasks. */
export interface TaskReport {
  readonly status: 'complete' | 'partial_failure' | 'failed' | 'cancelled';
  readonly succeeded: number;
  readonly tasks: readonly ChildReport[];
}

/** Sums up how tasks ended. Those in the background count neither way. */
export function summarise(tasks: readonly ChildReport[], wanted: number | undefined, isCancelled: boolean): TaskReport {
  const awaited = tasks.filter(({ background }) => !background);
  const succeeded = awaited.filter(({ status }) => status === 'completed').length;
  const isEnough = succeeded >= (wanted ?? awaited.length);
  const status =
    isCancelled && succeeded < awaited.length
      ? 'cancelled'
      : succeeded === awaited.length
        ? 'complete'
        : isEnough
          ? 'partial_failure'
          : 'failed';
  return { status, succeeded, tasks };
}

/** The report with shorter texts where it would be longer than so many characters of JSON. */
export function bounded(report: TaskReport, most: number): TaskReport {
  for (let length = 4_000; length > 0; length = Math.floor(length / 2)) {
    if (JSON.stringify(report).length <= most) return report;
    report = { ...report, tasks: report.tasks.map((task) => ({ ...task, text: cut(task.text, length) })) };
  }
  return report;
}

/** The beginning and the end. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = ' […] ';
  const head = Math.floor((length - mark.length) * 0.75);
  if (head <= 0) return '';
  const tail = length - mark.length - head;
  return `${whole(text.slice(0, head))}${mark}${whole(text.slice(text.length - tail))}`;
}

/** Without the half of a surrogate pair at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '');
}
