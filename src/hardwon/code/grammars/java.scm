(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(compact_constructor_declaration name: (_) @name) @method
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @constant
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant

(method_invocation !object name: (identifier) @call)
(method_invocation object: (_) name: (identifier) @call) @callee
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (scoped_type_identifier (type_identifier) @call .) @callee)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(object_creation_expression type: (generic_type . (scoped_type_identifier (type_identifier) @call .) @callee))

(import_declaration) @import
[(line_comment) (block_comment)] @comment
[(string_fragment) (multiline_string_fragment) (character_literal)] @string
