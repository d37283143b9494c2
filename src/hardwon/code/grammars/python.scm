; What is declared. The capture says the kind; @name is its name.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(module (expression_statement (assignment left: (identifier) @name) @constant))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @constant)))
(module (type_alias_statement left: (type (identifier) @name)) @type)
(decorator) @attribute

; What is called, a decorator's function among it.
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call) @callee)
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call) @callee)

[(import_statement) (import_from_statement) (future_import_statement)] @import

; What is prose, what counts although it looks like an ornament, and where a block begins and ends.
(comment) @comment
(string_content) @string
(function_definition body: (block . (expression_statement . (string) @docstring .))) @documented
(function_definition body: (block . (comment)+ . (expression_statement . (string) @docstring .))) @documented
(class_definition body: (block . (expression_statement . (string) @docstring .))) @documented
(class_definition body: (block . (comment)+ . (expression_statement . (string) @docstring .))) @documented
(tuple . (_) . "," @keep . ")")
(tuple_pattern . (_) . "," @keep . ")")
(block) @block
