import { join } from 'node:path';
import { partDir, pythonBin } from './layout.ts';
import type { Part } from './part.ts';
import { need } from './toolchain.ts';
import { PYTHON_PACKAGES } from './versions.ts';

export const pythonPart: Part = {
  name: 'python',
  what: 'DuckDB with its iceberg extension, and PyIceberg',
  tools: ['python'],
  install: async (tools, shell) => {
    await shell.run(need(tools, 'python'), ['-m', 'venv', join(partDir('python'), 'venv')]);
    shell.say(`pip install ${PYTHON_PACKAGES.join(' ')}`);
    const quiet = [
      '--progress-bar',
      'off',
      '--disable-pip-version-check',
      '--only-binary',
      ':all:',
    ];
    await shell.run(pythonBin, ['-m', 'pip', 'install', ...quiet, ...PYTHON_PACKAGES]);
  },
};
