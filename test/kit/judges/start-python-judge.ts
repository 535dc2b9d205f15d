import { join } from 'node:path';
import { pythonBin, pythonJudgesDir } from '../../../tools/services/layout.ts';
import { startJudge, type JudgeProcess } from './judge-process.ts';

/** Starts `python/<name>_judge.py` with the Python that `npm run services` installed. */
export function startPythonJudge(name: 'duckdb' | 'pyiceberg'): Promise<JudgeProcess> {
  return startJudge({
    name,
    command: pythonBin,
    // -I keeps the user's own Python packages out; the script's folder is then added by hand.
    args: [
      '-I',
      '-B',
      '-c',
      `import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')`,
      pythonJudgesDir,
      join(pythonJudgesDir, `${name}_judge.py`),
    ],
  });
}
