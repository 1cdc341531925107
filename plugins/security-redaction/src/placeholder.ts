/**
 * Whether a value only stands for another: a reference, a mark of what was taken out, a variable, a stand-in.
 */
export function standsForAnother(value: string): boolean {
  return (
    /secret:\/|\[redacted:|\$[{(A-Za-z_]|\{\{|<[A-Za-z_ -]+>|%[A-Za-z_]+%/.test(value) ||
    /^[*x.•-]+$/i.test(value) ||
    /^(?:your|my|the|example|changeme|change_me|placeholder|todo|dummy)[a-z_-]*$/i.test(value)
  );
}
