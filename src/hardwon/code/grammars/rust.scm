(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @class
(enum_item name: (_) @name) @class
(union_item name: (_) @name) @class
(trait_item name: (_) @name) @interface
(impl_item type: (_) @name) @owner
(mod_item name: (_) @name body: (_)) @module
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(macro_definition name: (_) @name) @macro
(attribute_item) @attribute

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call) @callee)
(call_expression function: (scoped_identifier name: (_) @call) @callee)
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @call) @callee))
(call_expression function: (generic_function function: (scoped_identifier name: (_) @call) @callee))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier name: (_) @call) @callee)
(struct_expression name: (generic_type_with_turbofish type: (type_identifier) @call))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (_) @call) @callee)
; Inside a macro's arguments nothing is parsed: a name with parentheses behind it is taken for a call.
(token_tree (identifier) @loose . (token_tree . "("))

[(use_declaration) (extern_crate_declaration)] @import
[(line_comment) (block_comment)] @comment
[(string_content) (char_literal)] @string
(tuple_expression . (_) . "," @keep . ")")
(tuple_pattern . (_) . "," @keep . ")")
(tuple_type . (_) . "," @keep . ")")
