import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { LOOPBACK_REGISTRY } from '../../support/loopback-registry.ts';
import { inside } from './inside.ts';
import { toolsImage } from './tools-image.ts';

let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = toolsImage(await testImage(engine));
});
afterAll(() => engine.close());

it.each<readonly [string, RegExp, string]>([
  [
    'Go: a server, a client, a child process, tests',
    /hi x\n[\s\S]*ok /,
    `mkdir served && cd served && cat >m.go <<'END'
package main
import ("fmt"; "io"; "net"; "net/http"; "os/exec")
func main() {
	l, e := net.Listen("tcp", "127.0.0.1:0"); if e != nil { panic(e) }
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hi") }))
	r, e := http.Get("http://" + l.Addr().String()); if e != nil { panic(e) }
	b, _ := io.ReadAll(r.Body); o, _ := exec.Command("echo", "x").Output(); fmt.Print(string(b), " ", string(o))
}
END
printf 'package main\\nimport "testing"\\nfunc TestA(t *testing.T) {}\\n' >m_test.go
go mod init x && go run . && go test ./...`,
  ],
  [
    'Rust: threads, cargo test',
    /28\n[\s\S]*test result: ok. 1 passed/,
    `cargo new --vcs none c && cd c && cat >src/main.rs <<'END'
fn main() { let all: Vec<_> = (0..8).map(|i| std::thread::spawn(move || i)).collect(); println!("{}", all.into_iter().map(|one| one.join().unwrap()).sum::<i32>()); }
#[test] fn t() {}
END
cargo run --offline && cargo test --offline`,
  ],
  [
    'JVM: compiler, JIT, threads, child process, attach',
    /thread\nchild\n[\s\S]*jdk.jcmd/,
    `cat >M.java <<'END'
public class M { public static void main(String[] a) throws Exception {
  var t = new Thread(() -> System.out.println("thread")); t.start(); t.join(); java.net.NetworkInterface.getNetworkInterfaces();
  System.out.print(new String(Runtime.getRuntime().exec(new String[] {"echo", "child"}).getInputStream().readAllBytes()));
} }
END
javac M.java && java M && jcmd -l`,
  ],
  [
    'Node: workers, child processes, watching, inspector, cluster',
    /worker child watched inspector/,
    `cat >n.mjs <<'END'
import { execFileSync } from 'node:child_process'; import fs from 'node:fs'; import inspector from 'node:inspector'; import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker('require("node:worker_threads").parentPort.postMessage("worker")', { eval: true });
const [text] = await once(worker, 'message');
const watcher = fs.watch('.'); const seen = once(watcher, 'change'); fs.writeFileSync('w', ''); await seen; watcher.close();
inspector.open(0); const at = inspector.url(); inspector.close();
console.log(text, execFileSync('echo', ['child'], { encoding: 'utf8' }).trim(), 'watched', at.startsWith('ws:') ? 'inspector' : '');
END
node n.mjs`,
  ],
  [
    'Python and sqlite: processes, shared memory, a write-ahead log',
    /wal\n1\n\[1, 2\] 8/,
    `sqlite3 a.db 'pragma journal_mode=wal; create table t(a); insert into t values(1); select count(*) from t;'
cat >p.py <<'END'
import concurrent.futures, multiprocessing.shared_memory as shm
if __name__ == '__main__':
    memory = shm.SharedMemory(create=True, size=8)
    with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, -2])), len(bytes(memory.buf)[:8]))
    memory.close(); memory.unlink()
END
python3 p.py`,
  ],
  [
    'Chromium, headless, without the sandbox of its own (which needs namespaces)',
    /<body>sum 2<\/body>/,
    `printf '<body><script>document.body.innerText = "sum " + (1 + 1)</script></body>' >a.html
chromium --headless --no-sandbox --disable-gpu --dump-dom file:///workspace/a.html`,
  ],
  [
    'npm ci with an install script',
    /seven 7/,
    `${LOOPBACK_REGISTRY} mkdir app && cd app && printf '{"dependencies":{"lib":"1.0.0"}}' >package.json
npm install --registry http://127.0.0.1:4873 --no-audit --no-fund >/dev/null && rm -rf node_modules && npm ci --registry http://127.0.0.1:4873 --no-audit --no-fund
node -e 'console.log("seven", require("lib"))'; kill %1`,
  ],
  [
    'pip install into a virtual environment',
    /seven 7/,
    `${LOOPBACK_REGISTRY} python3 -m venv v && v/bin/pip install --index-url http://127.0.0.1:4873/simple lib && v/bin/python -c 'import lib_seven; print("seven", lib_seven.seven)'; kill %1`,
  ],
  [
    'what lowers its own limit on cores takes it for done',
    /fine\n[\s\S]*\(1, 1\)/,
    "ulimit -c 0 && echo fine; gpg --batch --list-keys; python3 -c 'import resource as r; print(r.getrlimit(r.RLIMIT_CORE))'",
  ],
])('%s', async (_name, expected, script) => {
  const { said, status } = await inside(engine, image, script);
  expect([said, status]).toEqual([expect.stringMatching(expected), 0]);
});
