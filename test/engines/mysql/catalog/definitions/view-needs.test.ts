import { expect, it } from 'vitest';
import { viewNeeds } from '../../../../../src/engines/mysql/catalog/definitions/view-needs.ts';

const HEAD = 'CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` AS ';

it.each([
  ['select `t`.`id` AS `id` from `t`', ['t'], []],
  [
    'select 1 AS `1` from ((`a` join `b` `x` on(`x`.`id` = `a`.`id`)) left join (`c` `f` join `d`) on(`f`.`i` = `a`.`i`))',
    ['a', 'b', 'c', 'd'],
    [],
  ],
  [
    'select `f`(`t`.`id`) AS `y`,extract(year from `day`) AS `z`,trim(leading `x` from `name`) AS `n` from `t`',
    ['t'],
    ['f'],
  ],
  [
    'with `few` as (select 1 AS `1` from `t`), `more`(`a`) as (select 2 AS `2` from `few`) select `more`.`a` AS `a` from (`more` join `u`)',
    ['t', 'u'],
    [],
  ],
  [
    'select `d`.`a` AS `a` from (select `t`.`a` AS `a` from `t`) `d`(`a`) where exists(select 1 from `w` where `w`.`i` = `G`(`d`.`a`))',
    ['t', 'w'],
    ['g'],
  ],
  ['select 1 AS `1` from `other`.`t`', [], []],
  ['select nextval(`s`) AS `n` from `odd ``from`` (name`', ['s', 'odd `from` (name'], []],
])('%s', (select, tables, routines) => {
  const needs = viewNeeds(HEAD + select);
  expect([[...needs.tables].sort(), [...needs.routines]]).toEqual([[...tables].sort(), routines]);
});
