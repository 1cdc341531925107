import { expect, test } from 'vitest';
import { identityOf } from './identity.js';

const WHOLE = '         0          0 4294967295\n';

test('an ordinary user stays who it is', () => {
  expect(identityOf(1001, 1002, WHOLE, WHOLE)).toEqual({ kind: 'own', uid: 1001, gid: 1002 });
});

test('root becomes nobody, in a namespace that has all ids that there are', () => {
  const ids = { uid: 65534, gid: 65534 };
  const uidMap = '0 0 4294967295\n';
  expect(identityOf(0, 0, WHOLE, WHOLE)).toEqual({ kind: 'dropped', ...ids, uidMap, gidMap: uidMap });
  const container = '         0     100000       1000\n      1000       1000      64536\n';
  const maps = { uidMap: '0 0 1000\n1000 1000 64536\n', gidMap: '0 0 1000\n1000 1000 64536\n' };
  expect(identityOf(0, 0, container, container)).toEqual({ kind: 'dropped', ...ids, ...maps });
});

test('who is called root and is another user outside is not called root inside', () => {
  expect(identityOf(0, 0, '0 1000 1\n', '0 1000 1\n')).toEqual({ kind: 'own', uid: 1000, gid: 1000 });
});
