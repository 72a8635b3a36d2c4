import { expect, it } from 'vitest';
import { rightsOf } from '../../../../../src/engines/mysql/catalog/rights/rights.ts';

const rights = (grants: string[], facts: { folds?: boolean; patterns?: boolean } = {}) =>
  rightsOf({ account: '`u`@`%`', folds: false, patterns: true, grants, ...facts });

it.each([
  ['GRANT SELECT, SHOW VIEW ON *.* TO `u`@`%`', true],
  ['GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION', true],
  ['GRANT SELECT ON `app`.* TO `u`@`%`', true],
  ['GRANT SELECT ON `a_p`.* TO `u`@`%`', true],
  ['GRANT SELECT ON `a%`.* TO PUBLIC', true],
  ['GRANT SELECT ON `a\\_p`.* TO `u`@`%`', false],
  ['GRANT SELECT ON `App`.* TO `u`@`%`', false],
  ['GRANT INSERT ON `app`.* TO `u`@`%`', false],
  ['GRANT SELECT (`a`, `select`) ON `app`.* TO `u`@`%`', false],
  ['GRANT SELECT ON `app`.`SELECT ON *.* TO` TO `u`@`%`', false],
  ['GRANT EXECUTE ON PROCEDURE `app`.`SELECT` TO `u`@`%`', false],
  ['GRANT `SELECT`@`%` TO `u`@`%`', false],
  ["GRANT PROXY ON ``@`%` TO 'u'@'%' WITH GRANT OPTION", false],
])('%s: SELECT on the database is %s', (grant, expected) => {
  expect(rights([grant]).onDatabase('app', 'SELECT')).toBe(expected);
});

it('a right on a table counts only when it is on all columns', () => {
  const own = rights(['GRANT SELECT (`id`), INSERT, UPDATE (`id`, `b`), TRIGGER ON `app`.`t` TO `u`@`%`']);
  expect(['SELECT', 'INSERT', 'UPDATE', 'TRIGGER'].filter((right) => own.onTable('app', 't', right))).toEqual([
    'INSERT',
    'TRIGGER',
  ]);
  expect(own.onTable('app', 'T', 'INSERT')).toBe(false);
  expect(own.onTable('other', 't', 'INSERT')).toBe(false);
});

it('the closest pattern of each grantee counts alone, and grantees add up', () => {
  const own = ['GRANT SELECT ON `a%`.* TO `u`@`%`', 'GRANT TRIGGER ON `ap%`.* TO `u`@`%`'];
  expect(rights(own).onDatabase('app', 'SELECT')).toBe(false);
  expect(rights(own).onDatabase('abc', 'SELECT')).toBe(true);
  expect(rights([...own, 'GRANT SELECT ON `app`.* TO `role`']).onDatabase('app', 'SELECT')).toBe(true);
});

it('partial revokes take from rights on the server, and make patterns plain names', () => {
  const grants = ['GRANT SELECT, TRIGGER ON *.* TO `u`@`%`', 'REVOKE TRIGGER ON `app`.* FROM `u`@`%`'];
  const own = rights(grants, { patterns: false });
  expect([own.onDatabase('app', 'SELECT'), own.onDatabase('app', 'TRIGGER'), own.onDatabase('b', 'TRIGGER')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(rights(['GRANT SELECT ON `a%`.* TO `u`@`%`'], { patterns: false }).onDatabase('app', 'SELECT')).toBe(false);
});

it('a server that folds names finds them in any case', () => {
  const own = rights(['GRANT SELECT ON `app`.`orders` TO `u`@`%`'], { folds: true });
  expect(own.onTable('App', 'Orders', 'SELECT')).toBe(true);
});

it('dynamic rights are not in ALL PRIVILEGES', () => {
  expect(rights(['GRANT ALL PRIVILEGES ON *.* TO `u`@`%`']).onServer('SHOW_ROUTINE')).toBe(false);
  expect(rights(['GRANT SHOW_ROUTINE ON *.* TO `u`@`%`']).onServer('SHOW_ROUTINE')).toBe(true);
});
