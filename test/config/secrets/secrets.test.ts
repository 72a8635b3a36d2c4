import { createDecipheriv } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { decrypt, encrypt } from '../../../src/config/secrets/cipher.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { fc } from '../../helpers/fast-check.ts';
import { runWith } from '../../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, summary, withKey } from '../../helpers/terminal/config-folder.ts';

/** As a driver reads the password of a URL: a lone % stands for itself. */
function decodeLoosely(text: string): string {
  const bytes = text
    .replace(/%(?![0-9a-fA-F]{2})/g, '%25')
    .replace(/[^\0-\x7f]+/g, (some) => encodeURIComponent(some.toWellFormed()));
  return unescape(bytes);
}

const OTHER_KEY = 'f'.repeat(32);

function tool({ path }: ConfigFolder, words: string[], environment: NodeJS.ProcessEnv = {}) {
  return runWith(['config', ...words], COMMANDS, {
    cwd: path,
    environment: { TOOL_TRUST: 'true', HOME: path, ...environment },
  });
}

describe('an encrypted value', () => {
  it('is nonce, ciphertext and tag of AES-256-GCM under the text of the key', () => {
    const sealed = Buffer.from(encrypt('hello', SECRET_KEY).slice('$aes$'.length), 'hex');
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(SECRET_KEY), sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    expect(`${decipher.update(sealed.subarray(12, -16))}${decipher.final()}`).toBe('hello');
  });

  it('a value written by another program of this kind can be decrypted', () => {
    // Made with Python's cryptography: AESGCM(key).encrypt(nonce of twelve 0x07, b'pa$$ w\xc3\xb6rd', None).
    const foreign = '$aes$070707070707070707070707c4e3d3232fe587953fa800386893d41a613f78099c1f146f6088';
    expect(decrypt(foreign, SECRET_KEY)).toBe('pa$$ wörd');
    expect(decrypt(foreign.toUpperCase().replace('$AES$', '$aes$'), SECRET_KEY)).toBe('pa$$ wörd');
  });

  it('decrypts to its value, and to nothing with another key or a changed byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (plain, at) => {
        const encrypted = encrypt(plain, SECRET_KEY);
        expect(decrypt(encrypted, SECRET_KEY)).toBe(plain);
        expect(decrypt(encrypted, OTHER_KEY)).toBeNull();
        const place = 5 + (at % (encrypted.length - 5));
        const digit = encrypted[place] === '0' ? '1' : '0';
        expect(decrypt(encrypted.slice(0, place) + digit + encrypted.slice(place + 1), SECRET_KEY)).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('is accepted in any text, in a URL, in a list and in a variable', async () => {
    const hidden = (plain: string) => encrypt(plain, SECRET_KEY);
    const folder = await configFolder({
      'tool.yml': withKey(`authtoken: ${hidden('token')}
storage_profiles:
  team: { provider: s3, region: eu, bucket: b, access_key: a, secret_key: "${hidden('s3cret')}" }
targets:
  app:
    name: ${hidden('The app')}
    sso_groups: [dev, "${hidden('ops')}"]
    snapshot:
      src_url: postgres://app:${hidden('p@ss:w/rd')}@db/app
      dst_url: ${hidden('postgres://me@localhost/copy')}
    sanitize:
      dst_url: "postgres://u:{{\`SECRET\` | env}}@h/s"
`),
    });
    const environment = { SECRET: hidden('a b'), TOOL_OVERRIDE__DST_DB_URL: `postgres://o:${hidden('ö')}@h/o` };
    const { settings } = await folder.load({ environment });
    expect(settings.authtoken).toBe('token');
    expect(settings.storage_profiles.team?.secret_key).toBe('s3cret');
    expect(settings.override.dst_db_url).toBe('postgres://o:%C3%B6@h/o');
    expect(settings.targets.app).toMatchObject({
      name: 'The app',
      sso_groups: ['dev', 'ops'],
      snapshot: { src_url: 'postgres://app:p%40ss%3Aw%2Frd@db/app', dst_url: 'postgres://me@localhost/copy' },
      sanitize: { dst_url: 'postgres://u:a%20b@h/s' },
    });
  });

  it('a damaged value, or one of another key, is an error at its position that does not repeat it', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(`authtoken: ${encrypt('t', OTHER_KEY)}
targets:
  app: { snapshot: { src_url: "postgres://u:$aes$00ff@h/d" } }
`),
    });
    const { problems } = await folder.inspect();
    expect(summary(problems)).toEqual([
      '2:12 secret_not_opened authtoken cannot be decrypted with this secret_key',
      '4:31 secret_not_opened targets.app.snapshot.src_url is a truncated encrypted value',
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/\$aes\$|00ff/);
  });

  it('a value may contain a template, and a variable of a template may be encrypted', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(`targets:
  app:
    snapshot:
      src_url: ${encrypt('postgres://me:{{`PW` | env}}@h/a', SECRET_KEY)}
      dst_url: "{{\`URL\` | env}}"
    sanitize:
      dst_url: "postgres://{{\`WHO\` | env}}@h/{{\`NAME\` | env}}"
`),
    });
    const hidden = (plain: string) => encrypt(plain, SECRET_KEY);
    const environment = {
      PW: hidden('p@w'),
      URL: `postgres://me:${hidden('a/b')}@h/copy`,
      WHO: hidden('me:p:w'),
      NAME: hidden('a b'),
    };
    const { snapshot, sanitize } = (await folder.load({ environment })).settings.targets.app ?? {};
    expect(snapshot).toEqual({ src_url: 'postgres://me:p%40w@h/a', dst_url: 'postgres://me:a%2Fb@h/copy' });
    expect(sanitize).toEqual({ dst_url: 'postgres://me:p%3Aw@h/a%20b' });
  });

  it('is no secret of others than the file, when the keychain has the key', async () => {
    const folder = await configFolder({
      'tool.yml': `secret_key: keychain\nauthtoken: ${encrypt('t', SECRET_KEY)}\n`,
    });
    await chmod(join(folder.path, 'tool.yml'), 0o644);
    expect((await folder.inspect({ environment: { TOOL_SECRET_KEY: SECRET_KEY } })).problems).toEqual([]);
  });

  const UNDER_OTHER_KEY = `authtoken: ${encrypt('t', OTHER_KEY)}
storage_profiles:
  team: { provider: s3, region: "${encrypt('eu', OTHER_KEY)}", bucket: b, access_key: a, secret_key: "${encrypt('s', OTHER_KEY)}" }
targets:
  app:
    storage_profile: ${encrypt('team', OTHER_KEY)}
    snapshot: { src_url: "${encrypt('postgres://h/d', OTHER_KEY)}", dst_url: "postgres://u:${encrypt('p', OTHER_KEY)}@h/e" }
    subset: { src_url: "postgres://{{\`WHO\` | env}}@h/d", dst_url: postgres://h/x, copy_tables: ["${encrypt('a.b', OTHER_KEY)}"] }
`;

  it('a key that decrypts nothing is one problem, with the key and some values', async () => {
    const folder = await configFolder({ 'tool.yml': withKey(UNDER_OTHER_KEY) });
    const { problems } = await folder.inspect({ environment: { WHO: encrypt('w', OTHER_KEY) } });
    expect(summary(problems.filter(({ severity }) => severity === 'error'))).toEqual([
      '1:13 secret_not_opened secret_key opens none of the encrypted values: authtoken, storage_profiles.team.region, storage_profiles.team.secret_key and 5 more',
    ]);
    const byVariable = await folder.inspect({
      environment: { TOOL_SECRET_KEY: 'a'.repeat(32), WHO: encrypt('w', OTHER_KEY) },
    });
    const errors = byVariable.problems.filter(({ severity }) => severity === 'error');
    expect(summary(errors)).toEqual([expect.stringMatching(/^secret_not_opened TOOL_SECRET_KEY opens none/)]);
  });

  it('a value without a key adds no problem to the missing key', async () => {
    const folder = await configFolder({ 'tool.yml': UNDER_OTHER_KEY });
    const { problems } = await folder.inspect({ environment: { WHO: encrypt('w', OTHER_KEY) } });
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ code, key }) => [code, key])).toEqual([['missing_key', 'secret_key']]);
  });

  it('is spoken of when the advice repeats nothing of it', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(`storage_profiles:
  team: { provider: s3, region: eu, bucket: b, access_key: "${encrypt('sesame', SECRET_KEY)}", secret_key: s }
`),
    });
    expect(summary((await folder.inspect()).problems)).toEqual([
      expect.stringMatching(/^3:\d+ direct_credentials storage profile 'team' contains its credentials/),
    ]);
  });

  it('is not reported separately when the key is wrong', async () => {
    const folder = await configFolder({
      'tool.yml': `secret_key: short\nauthtoken: ${encrypt('t', SECRET_KEY)}\n`,
    });
    expect((await folder.inspect()).problems.map(({ code }) => code)).toEqual(['wrong_value']);
  });

  it('is not shown by its problem', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(
        `env: ${encrypt('sesame', SECRET_KEY)}
targets:
  a: { storage_profile: "${encrypt('sesame', SECRET_KEY)}" }
  b: { snapshot: { src_url: "${encrypt('postgres://{{ sesame street }}', SECRET_KEY)}" } }
`,
      ),
      'query.yml': withKey(`targets: { a: { sanitize: { query_file: "${encrypt('sesame.sql', SECRET_KEY)}" } } }\n`),
    });
    const { problems } = await folder.inspect();
    problems.push(...(await folder.inspect({ file: 'query.yml' })).problems);
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(4);
    expect(JSON.stringify(problems)).not.toContain('sesame');
  });
});

describe('config encrypt', () => {
  const PLAIN = withKey(`# the cloud
authtoken: "token"  # from the web
targets:
  app:
    snapshot:
      src_url: 'postgres://app:it%27s@db/app' # production
      dst_url: "postgres://me:{{\`PW\` | env}}@localhost/copy"
`);

  it('encrypts plain sensitive values in place, and load reads the same values', async () => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const before = (await folder.load({ environment: { PW: 'x' } })).settings;
    const { exit, stdout } = await tool(folder, ['encrypt']);
    expect({ exit, stdout }).toEqual({
      exit: EXIT.done,
      stdout:
        'Encrypted authtoken\nEncrypted targets.app.snapshot.src_url\nSkipped targets.app.snapshot.dst_url: the password comes from a template\n',
    });
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text.replace(/\$aes\$[0-9a-f]+/g, '$aes$')).toBe(
      PLAIN.replace('"token"', '"$aes$"').replace('it%27s', '$aes$'),
    );
    const after = (await folder.load({ environment: { PW: 'x' } })).settings;
    expect(after).toEqual(before);
    expect((await tool(folder, ['encrypt'])).stdout).toBe(
      'Skipped authtoken: it is encrypted already\nSkipped targets.app.snapshot.src_url: it is encrypted already\nSkipped targets.app.snapshot.dst_url: the password comes from a template\n',
    );
  });

  it('keeps each password, in any notation of its URL', async () => {
    const written = fc.oneof(fc.string({ unit: 'grapheme' }).map(encodeURIComponent), fc.string(), fc.webUrl());
    const password = written.map((text) => text.replace(/[\s/?#\\{\p{Cc}]/gu, '') || 'x');
    await fc.assert(
      fc.asyncProperty(password, async (text) => {
        const url = `postgres://me:${text}@h/d`;
        const folder = await configFolder({
          'tool.yml': withKey(`override: { dst_db_url: ${JSON.stringify(url)} }\n`),
        });
        await tool(folder, ['encrypt']);
        const { settings } = await folder.load();
        expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toMatch(/postgres:\/\/me:\$aes\$[0-9a-f]+@h\/d/);
        const reads = (value = '') => decodeLoosely(/:\/\/me:(.*)@h\/d$/s.exec(value)?.[1] ?? '');
        expect(reads(settings.override.dst_db_url)).toBe(reads(url));
      }),
      { numRuns: 100 },
    );
  });

  it('encrypts a shared value once, and it stays shared', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(`authtoken: &t sesame
targets:
  base: &base
    snapshot: { src_url: "postgres://u:pw@h/d", dst_url: postgres://h/e }
  other:
    <<: *base
    name: Other
  1: *base
storage_profiles:
  team: { provider: s3, region: eu, bucket: b, access_key: a, secret_key: *t }
`),
    });
    const { settings } = await folder.load();
    const before = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    const { stdout, exit } = await tool(folder, [
      'encrypt',
      'storage_profiles.team.secret_key',
      'targets.other.snapshot.src_url',
    ]);
    expect({ exit, keys: stdout.match(/(?<=Encrypted ).*/g)?.sort() }).toEqual({
      exit: EXIT.done,
      keys: [
        'authtoken',
        'storage_profiles.team.secret_key',
        'targets.1.snapshot.src_url',
        'targets.base.snapshot.src_url',
        'targets.other.snapshot.src_url',
      ],
    });
    const after = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(after.replace(/\$aes\$[0-9a-f]+/g, '$aes$')).toBe(
      before.replace('sesame', '$aes$').replace('pw@', '$aes$@'),
    );
    expect((await folder.load()).settings).toEqual(settings);
  });

  it('treats braces and addresses as text outside a URL', async () => {
    const folder = await configFolder({ 'tool.yml': withKey("authtoken: 'a{{b://c:d@e'\n") });
    expect((await tool(folder, ['encrypt'])).stdout).toBe('Encrypted authtoken\n');
    expect((await folder.load()).settings.authtoken).toBe('a{{b://c:d@e');
  });

  it('encrypts the given keys, and nothing with --dry-run', async () => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const dry = await tool(folder, ['encrypt', 'authtoken', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toEqual({
      file: join(folder.path, 'tool.yml'),
      encrypted: ['authtoken'],
      skipped: [],
    });
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe(PLAIN);
    await tool(folder, ['encrypt', 'authtoken']);
    expect((await tool(folder, ['decrypt', 'authtoken'])).stdout).toBe('token\n');
    expect(JSON.parse((await tool(folder, ['decrypt', 'authtoken', '--json'])).stdout)).toEqual({
      key: 'authtoken',
      value: 'token',
    });
  });

  it.for([
    { key: 'authtokn', says: 'The configuration has no text value at authtokn', hint: 'Did you mean authtoken?' },
    {
      key: 'target.app',
      says: 'The configuration has no text value at target.app',
      hint: 'hint: tool config show lists',
    },
    { key: 'secret_key', says: 'secret_key decrypts the others', hint: '--keychain' },
  ])('refuses $key with 2', async ({ key, says, hint }) => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const { exit, stderr } = await tool(folder, ['encrypt', key]);
    expect(exit).toBe(EXIT.usage);
    expect(stderr).toContain(says);
    expect(stderr).toContain(hint);
  });

  it('is offered by the shell the sensitive keys of the file that were not typed yet', async () => {
    const folder = await configFolder({ 'other.yml': PLAIN.replace('secret_key: "', 'secret_key: keychain #') });
    const words = ['__complete', '--', '--config', 'other.yml', 'config', 'encrypt', 'authtoken', ''];
    const { stdout } = await runWith(words, COMMANDS, { cwd: folder.path });
    expect(stdout).toBe('targets.app.snapshot.src_url\t\ntargets.app.snapshot.dst_url\t\n');
  });

  it('works with a key from the environment, and reports a missing one', async () => {
    const folder = await configFolder({ 'tool.yml': 'authtoken: token\n' });
    expect((await tool(folder, ['encrypt'])).exit).toBe(EXIT.configuration);
    expect(await tool(folder, ['encrypt'], { TOOL_SECRET_KEY: SECRET_KEY })).toMatchObject({ exit: EXIT.done });
    const written = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(decrypt(written.trim().split(' ')[1] ?? '', SECRET_KEY)).toBe('token');
  });
});
