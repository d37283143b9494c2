// Declarations of TypeScript and JavaScript files, by the TypeScript compiler's parser: the ground truth of bench/truth.py.
// One request a line, one answer a line, as JSON. The first argument is the folder of the package "typescript".
const ts = require(process.argv[2]);
const crypto = require("crypto");
const lines = require("readline").createInterface({ input: process.stdin, terminal: false });
const K = ts.SyntaxKind;

const KINDS = new Map([
  [K.FunctionDeclaration, "function"], [K.MethodDeclaration, "method"], [K.Constructor, "method"], [K.GetAccessor, "method"],
  [K.SetAccessor, "method"], [K.ClassDeclaration, "class"], [K.InterfaceDeclaration, "interface"], [K.TypeAliasDeclaration, "type"],
  [K.EnumDeclaration, "type"], [K.ModuleDeclaration, "module"],
]);

// What a node means: kinds and words in order, without layout, comments, semicolons, needless parentheses and kinds of quotes.
function code(node, into) {
  if (node.kind === K.ParenthesizedExpression || node.kind === K.ParenthesizedType) return code(node.expression || node.type, into);
  if (node.kind === K.EmptyStatement || node.kind === K.SemicolonClassElement) return;
  if (node.kind === K.ExportKeyword || node.kind === K.DefaultKeyword) return; // around a declaration, not of it
  into.push(`<${node.kind}`);
  if (typeof node.text === "string") into.push(node.text);
  for (const part of ["operator", "token", "keywordToken", "isTypeOnly", "isExportEquals"]) {
    if (node[part] !== undefined && typeof node[part] !== "object") into.push(`${part}=${node[part]}`);
  }
  if (node.kind === K.VariableDeclarationList) into.push(`let=${node.flags & ts.NodeFlags.BlockScoped}`);
  ts.forEachChild(node, (child) => code(child, into));
  into.push(">");
}

// The words of a whole text, once; a declaration's are a slice of them. From the tree: a scanner alone takes some slashes for others.
function scanned(file) {
  const starts = [], words = [];
  function leaves(node) {
    if (node.kind >= K.FirstJSDocNode && node.kind <= K.LastJSDocNode) return;
    const children = node.getChildren(file);
    if (children.length) return children.forEach(leaves);
    const text = node.getText(file);
    if (!text || node.kind === K.SemicolonToken || node.kind === K.CommaToken) return;
    starts.push(node.getStart(file));
    words.push(text);
  }
  leaves(file);
  return { starts, words };
}

function placeOf(starts, position) {
  let low = 0, high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nameOf(node) {
  if (node.kind === K.Constructor) return "constructor";
  const name = node.name;
  if (!name) return "";
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) return name.text;
  return "";
}

function kindOf(node) {
  if (KINDS.has(node.kind)) return KINDS.get(node.kind);
  const held = (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.initializer;
  if (held && (ts.isArrowFunction(held) || ts.isFunctionExpression(held))) return ts.isVariableDeclaration(node) ? "function" : "method";
  if (held && ts.isClassExpression(held)) return "class";
  if (ts.isVariableDeclaration(node) && node.parent.parent.parent && ts.isSourceFile(node.parent.parent.parent)) return "constant";
  return "";
}

function whole(node) {
  return ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent) ? node.parent.parent : node;
}

function outline(path, text) {
  const kind = /\.tsx$/.test(path) ? ts.ScriptKind.TSX : /\.[cm]?ts$/.test(path) ? ts.ScriptKind.TS : ts.ScriptKind.JSX;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const declarations = [], all = scanned(file);
  function visit(node, outer) {
    // What stands in a function or object without a name (a test's callback) cannot be spoken of by a name of its own.
    const held = node.parent && ts.isVariableDeclaration(node.parent);
    const nameless = ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isObjectLiteralExpression(node);
    if (nameless && !held && !(node.parent && ts.isPropertyDeclaration(node.parent))) return;
    const kind = kindOf(node);
    const name = kind && nameOf(node);
    let inner = outer;
    if (name) {
      inner = outer ? `${outer}.${name}` : name;
      const part = whole(node);
      const meaning = [];
      code(part, meaning);
      const start = part.getStart(file), end = part.getEnd();
      const first = file.getLineAndCharacterOfPosition(start).line + 1;
      const last = file.getLineAndCharacterOfPosition(end).line + 1;
      const said = all.words.slice(placeOf(all.starts, start), placeOf(all.starts, end));
      const own = (list) => list.map((word) => (word === name ? "\x01own" : word)).join("\0");
      const digest = crypto.createHash("sha256").update(own(meaning)).digest("hex").slice(0, 24);
      declarations.push({ qualified: inner, kind, first, last, meaning: digest, words: own(said) });
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  }
  visit(file, "");
  return { broken: file.parseDiagnostics.length > 0, declarations };
}

lines.on("line", (line) => {
  const { path, text } = JSON.parse(line);
  process.stdout.write(JSON.stringify(outline(path, text)) + "\n");
});
