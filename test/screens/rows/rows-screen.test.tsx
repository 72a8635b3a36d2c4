import { expect, test } from 'vitest';
import { openRows } from '../../../screens/commands/rows.ts';
import { fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel, press } from '../../helpers/terminal/driven-model.ts';

async function opened() {
  const model = newModel(fakeWorld());
  openRows(model, { target: 'app', snapshot: fakeSnapshot(), table: 'public.customer' });
  await found(model);
  return model;
}

const found = (model: ReturnType<typeof newModel>) =>
  expect.poll(() => model.navigation.top()).toMatchObject({ found: { table: 'public.customer' } });

test('personal data is masked until z reveals it, and masked again; NULL, an empty text and the word NULL differ', async () => {
  const model = await opened();
  const masked = await screenText(model);
  // In line with the first column of the table.
  expect(masked).toMatch(/^ {2}Rows 1–4 of 1,200, next page below; 1 personal column masked, z reveals/m);
  expect(masked).not.toContain('ann@');
  expect(masked).toMatch(/1 +\*\*\* +NULL/);
  expect(masked).toMatch(/3 +\*\*\* +'NULL'/);
  expect(masked).toMatch(/4 +\*\*\* +''/);
  press(model, 'z');
  await found(model);
  expect(await screenText(model)).toMatch(/1 +ann@example\.com +NULL/);
  press(model, 'z');
  await found(model);
  expect(await screenText(model)).not.toContain('ann@');
});

test('control characters are escaped, and wide values are cut by cells', async () => {
  for (const columns of [40, 60, 80, 120, 220]) {
    const model = await opened();
    const screen = await screenText(model, { columns, rows: 24 });
    expect(screen).not.toContain('\u001b');
    if (columns >= 80) expect(screen).toMatch(/red \\u001b\[2J 漢字 x+…?/);
  }
});

test('the columns scroll by one while the key stays, and one stays beside it', async () => {
  const model = await opened();
  expect(await screenText(model)).toMatch(/^ +id +email +note/m);
  press(model, 'right');
  expect(await screenText(model)).toMatch(/^‹ +id +note *$/m);
  press(model, 'right', 'right');
  expect(model.navigation.top()).toMatchObject({ scrolled: 1 });
  expect(await screenText(model)).toContain('from column 3 of 3');
  press(model, 'left', 'left', 'left');
  expect(model.navigation.top()).toMatchObject({ screen: 'rows', scrolled: 0 });
  press(model, 'esc');
  expect(model.navigation.top()).not.toMatchObject({ screen: 'rows' });
});

test('Enter shows the whole record, scrolled and followed by the next one; Esc shows all rows again', async () => {
  const model = await opened();
  press(model, 'j', 'enter');
  const size = { columns: 40, rows: 12 };
  const record = await screenText(model, size);
  expect(record).toMatch(/id +2/);
  expect(record).toMatch(/email +NULL/);
  expect(record).toMatch(/lines 1–\d of \d+/);
  press(model, 'end');
  expect(await screenText(model, size)).not.toMatch(/email/);
  press(model, 'right');
  expect(await screenText(model, size)).toMatch(/id +3[\s\S]*note +'NULL'/);
  press(model, 'left', 'left', 'left');
  expect(await screenText(model, size)).toMatch(/id +1/);
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'rows', record: null });
});

test('the last row leads on to the next page, the first one back to the page before', async () => {
  const model = await opened();
  press(model, 'G', 'j');
  await found(model);
  expect(await screenText(model)).toContain('Rows 5–8 of 1,200, next page below');
  press(model, 'k');
  await found(model);
  expect(await screenText(model)).toMatch(/Rows 1–4 of 1,200[\s\S]*❯ +4/);
  press(model, 'G');
  await found(model);
  expect(await screenText(model)).toContain('Rows 5–8 of 1,200, next page below');
});
