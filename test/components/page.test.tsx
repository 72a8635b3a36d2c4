import { afterEach, describe, expect, test } from 'vitest';
import { Page } from '../../components/page.tsx';
import { type Rendered, renderAt } from '../helpers/terminal/render.tsx';

const open: Rendered[] = [];
afterEach(() => {
  for (const rendered of open.splice(0)) rendered.unmount();
});

/** Returns the left and the right end of the upper border. */
async function titleAt(columns: number, path: string[], aside: string[] = []): Promise<string[]> {
  const page = (
    <Page size={{ columns, rows: 6 }} path={path} aside={aside.map((text) => ({ text }))} status={[]} hints={[]}>
      {null}
    </Page>
  );
  const rendered = renderAt({ columns, rows: 6 }, page);
  open.push(rendered);
  const [title = ''] = await rendered.screen();
  const [left = '', right = ''] = title.replaceAll(/^[╭─]+ | ─*[─╮]$/g, '').split(/ ─+ ?/);
  return [left, right];
}

describe('the title of a page', () => {
  const path = ['tool', 'chinook', '3c7a1f4e of 27 Nov', 'public.customer_addresses'];

  test.each([
    [80, 'tool ❯ chinook ❯ 3c7a1f4e of 27 Nov ❯ public.customer_addresses', 'SAFE'],
    [74, '… ❯ chinook ❯ 3c7a1f4e of 27 Nov ❯ public.customer_addresses', 'SAFE'],
    [64, '… ❯ chinook ❯ 3c7a1f4… ❯ public.customer_addresses', 'SAFE'],
    [52, '… ❯ public.customer_addresses', 'SAFE'],
    [38, 'public.customer_addresses', 'SAFE'],
    [36, '… ❯ public.customer_addresses', ''],
    [32, 'public.customer_addresses', ''],
  ])('the title shortens the way, and has the whole name, at %i cells', async (columns, way, right) => {
    expect(await titleAt(columns, path, ['SAFE'])).toEqual([way, right]);
  });

  test('the right end makes room for the name, its end first', async () => {
    const aside = ['RAW  ', 'running 3.2 s'];
    const name = 'load 3c7a1f4e → app_dev';
    expect(await titleAt(54, ['tool', 'app', name], aside)).toEqual([`… ❯ ${name}`, 'RAW  running 3.2 s']);
    expect(await titleAt(46, ['tool', 'app', name], aside)).toEqual([`… ❯ app ❯ ${name}`, 'RAW']);
    expect(await titleAt(46, ['tool', 'app', name], ['3 entries, 2 running'])).toEqual([name, '3 entries, 2 …']);
    expect(await titleAt(32, ['tool', 'app', name], aside)).toEqual([name, '']);
  });
});
