; JavaScript, TypeScript and TSX together.
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @member
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @member
(pair key: (_) @name value: (object)) @holder
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
(program (variable_declaration (variable_declarator name: (identifier) @name) @constant))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @constant)))
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @constant)))
(assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @assigned
(assignment_expression left: (member_expression) @name right: (class)) @assigned_class
(export_statement value: [(arrow_function) (function_expression) (generator_function)]) @default
(export_statement value: (class)) @default_class
(export_statement declaration: (function_declaration) @wrapped) @wrap
(export_statement declaration: (generator_function_declaration) @wrapped) @wrap
(export_statement declaration: (class_declaration) @wrapped) @wrap
(export_statement declaration: (lexical_declaration) @wrapped) @wrap
(export_statement declaration: (variable_declaration) @wrapped) @wrap
(lexical_declaration (variable_declarator) @wrapped) @wrap
(variable_declaration (variable_declarator) @wrapped) @wrap
(decorator) @attribute

(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (_) @call) @callee)
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (_) @call) @callee)

[(import_statement) (export_statement source: (string))] @import
(call_expression function: [(identifier) (import)] @require arguments: (arguments . (string) @source))
(variable_declarator name: (_) @as
  value: (call_expression function: (identifier) @require arguments: (arguments . (string) @source)))
(variable_declarator name: (_) @as
  value: (await_expression (call_expression function: (import) @require arguments: (arguments . (string) @source))))
(variable_declarator name: (_) @as value: (member_expression
  object: (call_expression function: (identifier) @require arguments: (arguments . (string) @source)) property: (_) @taken))

(comment) @comment
[(string_fragment) (regex_pattern)] @string
(for_statement ";" @keep)
(for_statement initializer: (_ ";" @keep))
(for_statement condition: (_ ";" @keep))
