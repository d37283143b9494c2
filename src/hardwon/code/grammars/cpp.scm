(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @type
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (operator_cast) @name) @function
(function_definition declarator: (qualified_identifier name: (operator_cast)) @name) @function
(declaration declarator: (reference_declarator (function_declarator declarator: (_) @name))) @prototype
(declaration declarator: (operator_cast) @name) @prototype
(field_declaration declarator: (function_declarator declarator: (_) @name)) @prototype
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @prototype
(field_declaration declarator: (reference_declarator (function_declarator declarator: (_) @name))) @prototype
(template_declaration (_) @wrapped .) @wrap

(call_expression function: (qualified_identifier) @callee)
(call_expression function: (template_function name: (_) @call))
(call_expression function: (field_expression field: (template_method name: (_) @call)) @callee)
(new_expression type: (type_identifier) @call)
(new_expression type: (qualified_identifier) @callee)
(new_expression type: (template_type name: (_) @call))
(compound_literal_expression type: (type_identifier) @call)
(compound_literal_expression type: (qualified_identifier) @callee)
(compound_literal_expression type: (template_type name: (_) @call))

(using_declaration) @import
(raw_string_content) @string
