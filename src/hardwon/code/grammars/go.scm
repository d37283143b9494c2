(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @in)) name: (field_identifier) @name) @function
(type_spec name: (type_identifier) @name type: (struct_type)) @class
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(interface_type (method_elem name: (field_identifier) @name) @function)
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @constant)))
(type_declaration (type_spec) @wrapped) @wrap
(type_declaration (type_alias) @wrapped) @wrap
(const_declaration (const_spec) @wrapped) @wrap
(var_declaration (var_spec) @wrapped) @wrap

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call) @callee)
(call_expression function: (type_instantiation_expression type: (_) @call))
(call_expression function: (index_expression operand: (identifier) @call))
(call_expression function: (index_expression operand: (selector_expression field: (field_identifier) @call) @callee))
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type name: (type_identifier) @call) @callee))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (type_identifier) @call) @callee)
(composite_literal type: (generic_type type: (type_identifier) @call))
(composite_literal type: (generic_type type: (qualified_type name: (type_identifier) @call) @callee))

(import_spec) @import
(comment) @comment
[(interpreted_string_literal_content) (raw_string_literal_content) (rune_literal)] @string
(for_clause ";" @keep)
