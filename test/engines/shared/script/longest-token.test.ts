import { expect, it } from 'vitest';
import { createSplitter } from '../../../../src/engines/mysql/restore/script/split.ts';

const MEGABYTE = 1024 * 1024;

it.each(['/*', ''])('the splitter of MySQL keeps no more than a statement in memory, behind "%s"', (head) => {
  const splitter = createSplitter();
  const feed = (): void => {
    splitter.push(Buffer.from(head));
    for (let count = 0; count < 260; count += 1) splitter.push(Buffer.alloc(MEGABYTE, ' '));
  };
  expect(feed).toThrow('a statement of more than 256 MB');
});
