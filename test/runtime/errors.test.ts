import { describe, expect, it } from 'vitest';
import { toUserError, UserError } from '../../src/runtime/errors.ts';

it.each([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['ENOMEM', 'out_of_memory'],
  ['EAGAIN', 'out_of_memory'],
  ['ERR_WORKER_INIT_FAILED', 'out_of_memory'],
  ['EMFILE', 'too_many_open_files'],
  ['EFBIG', 'file_too_large'],
  ['EROFS', 'file_forbidden'],
  ['EACCES', 'file_forbidden'],
  ['EXDEV', 'unexpected'],
])('an error of the system with %s is %s', (code, expected) => {
  const error = toUserError(Object.assign(new Error(`${code}: in the middle of anything`), { code }));
  expect(error).toMatchObject({ code: expected, exit: 1 });
  expect([error.message, ...error.details].join()).toContain(`${code}: in the middle`);
});

it.each([null, undefined, 'text', new Error('no code')])('%s is an unexpected error', (thrown) => {
  expect(toUserError(thrown)).toMatchObject({ code: 'unexpected' });
});

describe('an error with text of a large database', () => {
  it('bounds message, hint and details', () => {
    const names = Array.from({ length: 5000 }, (_, at) => `schema_${at}.table_${at}`);
    const { message, hint, details } = new UserError('dump_failed', names.join(', '), {
      hint: names.join(', '),
      details: names.map((name) => name.repeat(1000)),
    });
    expect(message.length).toBeLessThan(4100);
    expect(hint?.length).toBeLessThan(4100);
    expect(details.length).toBe(101);
    expect(details.at(-1)).toBe('and 4900 more');
    expect(Math.max(...details.map(({ length }) => length))).toBeLessThan(4100);
  });
});
