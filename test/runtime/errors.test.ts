import { expect, it } from 'vitest';
import { toUserError } from '../../src/runtime/errors.ts';

it.each([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['ENOMEM', 'out_of_memory'],
  ['EAGAIN', 'out_of_memory'],
  ['ERR_WORKER_INIT_FAILED', 'out_of_memory'],
  ['EMFILE', 'too_many_open_files'],
  ['EFBIG', 'file_too_large'],
  ['EXDEV', 'unexpected'],
])('an error of the system with %s is %s', (code, expected) => {
  const error = toUserError(Object.assign(new Error(`${code}: in the middle of anything`), { code }));
  expect(error).toMatchObject({ code: expected, exit: 1 });
  expect([error.message, ...error.details].join()).toContain(`${code}: in the middle`);
});

it.each([null, undefined, 'text', new Error('no code')])('%s is an unexpected error', (thrown) => {
  expect(toUserError(thrown)).toMatchObject({ code: 'unexpected' });
});
