import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';

/** A native addon is loaded from a file only: a private temporary one. */
export function loadAddon(): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'tool-addon-'));
  try {
    const file = join(folder, 'keytar.node');
    writeFileSync(file, new Uint8Array(getRawAsset('keytar.node') as ArrayBuffer));
    const addon = { exports: {} };
    process.dlopen(addon, file);
    return addon.exports;
  } finally {
    // Windows keeps a loaded library; its own clean-up of temporary files removes it.
    if (process.platform !== 'win32') rmSync(folder, { recursive: true });
  }
}
