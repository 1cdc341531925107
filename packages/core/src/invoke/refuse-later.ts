/**
 * A value that must be there at once. Throws a TypeError for a promise; what the promise comes to is nobody's any more,
 * and must not end the process when it is an error.
 */
export function refuseLater<Value>(value: Value): Value {
  if (!(value instanceof Promise)) return value;
  value.catch(() => undefined);
  throw new TypeError('it answers later, and must answer at once');
}
