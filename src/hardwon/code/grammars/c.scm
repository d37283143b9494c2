; C, and what C++ shares with it.
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (pointer_declarator declarator:
  (pointer_declarator declarator: (function_declarator declarator: (_) @name)))) @function
(declaration declarator: (function_declarator declarator: (_) @name)) @prototype
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @prototype
(declaration declarator: (pointer_declarator declarator:
  (pointer_declarator declarator: (function_declarator declarator: (_) @name)))) @prototype
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator:
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_function_def name: (identifier) @name) @macro
(preproc_def name: (identifier) @name value: (_)) @constant
(declaration (type_qualifier) declarator: (init_declarator declarator: (identifier) @name)) @constant
(declaration (type_qualifier) declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @constant

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call) @callee)

(preproc_include) @import
(comment) @comment
[(string_content) (character)] @string
