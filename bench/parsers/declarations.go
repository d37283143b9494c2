// Declarations of Go files, by Go's own parser: the ground truth of bench/truth.py. One request a line, one answer a line, as JSON.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"strings"
)

type request struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Words are those of the declaration, without comments, line ends and commas before a closing bracket; Meaning is their digest. Its own
// name is written as no name can be.
type declaration struct {
	Qualified string `json:"qualified"`
	Kind      string `json:"kind"`
	First     int    `json:"first"`
	Last      int    `json:"last"`
	Meaning   string `json:"meaning"`
	Words     string `json:"words"`
}

type answer struct {
	Broken       bool          `json:"broken"`
	Declarations []declaration `json:"declarations"`
}

type word struct {
	offset int
	text   string
}

func words(text []byte) []word {
	var reader scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	reader.Init(file, text, func(token.Position, string) {}, 0)
	var found []word
	for {
		position, kind, literal := reader.Scan()
		if kind == token.EOF {
			return found
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		if literal == "" || kind.IsOperator() {
			literal = kind.String()
		}
		found = append(found, word{file.Offset(position), literal})
	}
}

func between(all []word, first, last int) []string {
	found := []string{}
	for place, one := range all {
		if one.offset < first || one.offset >= last {
			continue
		}
		if one.text == "," && place+1 < len(all) && (all[place+1].text == ")" || all[place+1].text == "}") {
			continue
		}
		found = append(found, one.text)
	}
	return found
}

func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return ""
	}
	kind := function.Recv.List[0].Type
	for {
		switch inner := kind.(type) {
		case *ast.StarExpr:
			kind = inner.X
		case *ast.ParenExpr:
			kind = inner.X
		case *ast.IndexExpr:
			kind = inner.X
		case *ast.IndexListExpr:
			kind = inner.X
		case *ast.Ident:
			return inner.Name + "."
		default:
			return ""
		}
	}
}

func outline(text []byte) answer {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil || file == nil {
		return answer{Broken: true, Declarations: []declaration{}}
	}
	all := words(text)
	result := answer{Declarations: []declaration{}}
	add := func(outer, name, kind string, whole, part ast.Node) {
		first, last := files.Position(whole.Pos()), files.Position(part.End())
		code := between(all, files.Position(part.Pos()).Offset, last.Offset)
		for place, word := range code {
			if word == name {
				code[place] = "\x01own"
			}
		}
		said := strings.Join(code, "\x00")
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(said)))[:24]
		result.Declarations = append(result.Declarations, declaration{outer + name, kind, first.Line, last.Line, digest, said})
	}
	for _, one := range file.Decls {
		switch one := one.(type) {
		case *ast.FuncDecl:
			kind := "function"
			if one.Recv != nil {
				kind = "method"
			}
			add(receiver(one), one.Name.Name, kind, one, one)
		case *ast.GenDecl:
			for _, spec := range one.Specs {
				var whole ast.Node = spec
				if !one.Lparen.IsValid() {
					whole = one
				}
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					kind := "type"
					if _, is := spec.Type.(*ast.InterfaceType); is {
						kind = "interface"
					}
					add("", spec.Name.Name, kind, whole, spec)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add("", name.Name, "constant", whole, spec)
					}
				}
			}
		}
	}
	return result
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if json.Unmarshal(line, &asked) != nil || out.Encode(outline([]byte(asked.Text))) != nil {
			os.Exit(1)
		}
	}
}
