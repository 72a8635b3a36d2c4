import { expect, it } from 'vitest';
import { optionsOf } from '../../../../src/engines/mysql/connection/client-options.ts';
import { addressOf, parseMysqlUrl, tlsPolicyOf, withDatabase } from '../../../../src/engines/mysql/connection/url.ts';

it('takes a URL apart, and shows it without its password', () => {
  const url = parseMysqlUrl('mysql://app:p%40ss:word@db.example.com:3307/my%20db?charset=latin1&tls=required');
  expect({ ...url, toJSON: undefined }).toMatchObject({
    engine: 'mysql',
    user: 'app',
    password: 'p@ss:word',
    hosts: [{ host: 'db.example.com', port: 3307 }],
    database: 'my db',
    parameters: { charset: 'latin1', tls: 'required' },
  });
  expect(JSON.stringify(url)).toBe('"mysql://app@db.example.com:3307/my%20db"');
  expect(withDatabase(url, null).display).toBe('mysql://app@db.example.com:3307/');
});

it('finds the server where the client programs would', () => {
  expect(addressOf(parseMysqlUrl('mysql://u@[::1]/d'))).toEqual({ host: '::1', port: 3306 });
  expect(addressOf(parseMysqlUrl('mariadb://u@h/d'))).toEqual({ host: 'h', port: 3306 });
  expect(addressOf(parseMysqlUrl('mysql:///d?socket=/tmp/my.sock'))).toEqual({ socket: '/tmp/my.sock' });
  expect(addressOf(parseMysqlUrl('mysql:///d'))).toEqual({ socket: '/var/run/mysqld/mysqld.sock' });
});

it('refuses unknown parts, without showing them', () => {
  for (const text of ['mysql://u:secret@h:99999/d', 'mysql://u:secret@h/d?tls=perhaps', 'mysql://u:%zz@h/d']) {
    expect(() => parseMysqlUrl(text), text).toThrow(expect.objectContaining({ code: 'url_invalid', exit: 3 }));
    expect(() => parseMysqlUrl(text), text).not.toThrow(/secret/);
  }
});

it('understands the words for TLS of every client', () => {
  const policy = (query: string) => tlsPolicyOf(parseMysqlUrl(`mysql://u@h/d${query}`));
  expect(policy('')).toBe('preferred');
  expect(policy('?sslmode=disable')).toBe('disabled');
  expect(policy('?ssl-mode=VERIFY_CA')).toBe('verify_ca');
  expect(policy('?tls=true')).toBe('verify_identity');
  expect(policy('?tls=skip-verify')).toBe('required');
});

it('writes only options that the flavour of the client understands', () => {
  const url = parseMysqlUrl('mysql://u:a"b%5Cc@h/d?tls=required');
  expect(optionsOf(url, 'mysql')).toContain('ssl-mode=REQUIRED');
  expect(optionsOf(url, 'mysql')).toContain('get-server-public-key');
  expect(optionsOf(url, 'mariadb')).not.toMatch(/ssl-mode|public-key/);
  expect(optionsOf(url, 'mariadb')).toContain('\nssl\n');
  expect(optionsOf(url, 'mariadb')).toContain('password="a\\"b\\\\c"');
});
